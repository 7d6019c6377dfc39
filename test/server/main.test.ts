import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { listenFault } from '../../data-plane-agent/base/http/listen-fault.js';
import { freePort } from '../support/guardian.js';
import { COMPILE_CACHE, program } from '../support/programs.js';

describe('duebook-server', function () {
  this.timeout(180_000); // starts processes
  let home: string;
  before(() => {
    home = mkdtempSync(join(tmpdir(), 'duebook-main-'));
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  const run = (env: Record<string, string>) =>
    spawn(process.execPath, [program('server/main.ts')], {
      cwd: home,
      env: { PATH: process.env['PATH'], ...COMPILE_CACHE, DATA_DIR: join(home, 'data'), PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it('serves, warns that it is not in production, and on SIGTERM shuts down and exits 0', async () => {
    const child = run({});
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    let port = 0;
    const warned: string[] = [];
    for await (const line of lines) {
      const said = JSON.parse(line) as { msg: string; level: number; port?: number };
      if (said.level === 40) warned.push(said.msg);
      if (!said.msg.startsWith('listening on ')) continue;
      port = said.port ?? 0;
      break;
    }
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).to.equal(200);
    expect(warned).to.have.length(1);
    expect(warned[0]).to.contain('not a production installation').and.contain('anyone may register an organisation');
    child.stdout.resume(); // the rest of its output
    child.kill('SIGTERM');
    expect(await exited).to.deep.equal([0, null]);
  });

  it('answers for DRAIN_SECONDS after SIGTERM, without being ready, and ends each connection with its answer', async () => {
    const child = run({ DRAIN_SECONDS: '5' });
    const exited = once(child, 'exit');
    let port = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const said = JSON.parse(line) as { msg: string; port?: number };
      if (said.msg.startsWith('listening on ')) child.kill('SIGTERM');
      port = said.port ?? port;
      if (said.msg === 'stopping') break;
    }
    child.stdout.resume(); // the rest of its output
    const signalled = performance.now();
    const answered: unknown[] = [];
    for (const path of ['/readyz', '/livez', '/api/v1/health']) {
      const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`);
      answered.push([status, headers.get('connection')]);
    }
    expect(answered).to.deep.equal([
      [503, 'close'],
      [200, 'close'],
      [200, 'close'],
    ]);
    expect(await exited).to.deep.equal([0, null]);
    expect(performance.now() - signalled).to.be.greaterThan(4_900);
  });

  it('prints what to do next, with a working command, until there is an organisation', async () => {
    const dataDir = join(home, 'the first');
    const stderrOfStart = async (): Promise<string> => {
      const child = run({ DATA_DIR: dataDir });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
      for await (const line of createInterface({ input: child.stdout })) {
        const { msg } = JSON.parse(line) as { msg: string };
        if (msg.startsWith('listening on ')) child.kill('SIGTERM');
      }
      await once(child, 'close');
      return said;
    };
    const said = await stderrOfStart();
    expect(said).to.match(/^\nDuebook runs on http:\/\/127\.0\.0\.1:\d+ and has no organisation yet\./);
    expect(said).to.contain('/docs is the reference').and.contain('npm run demo');
    expect(said).to.contain(`platform: SQLite, ${dataDir}/platform.db`);
    const command = /^ +(DATA_DIR=.*)npx duebook (.*)$/m.exec(said) ?? [];
    const printed = execFileSync(
      'sh',
      ['-c', `${command[1]}"${process.execPath}" "${program('cli/main.ts')}" ${command[2]} 2>&1`],
      { cwd: home, env: { PATH: process.env['PATH'] }, input: 'Correct-Horse-42', encoding: 'utf8' },
    );
    expect(printed)
      .to.contain(`The platform database: SQLite, ${dataDir}/platform.db\n`)
      .and.contain(`The tenant database: SQLite, ${dataDir}/tenant.db\n`);
    expect(await stderrOfStart()).to.equal('');
  });

  it('warns about a PUBLIC_URL with another port, and prints the address that it listens on', async () => {
    const port = await freePort();
    const child = run({
      DATA_DIR: join(home, 'other-port'),
      PORT: String(port),
      PUBLIC_URL: 'http://localhost:9999',
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const logged: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg } = JSON.parse(line) as { msg: string };
      logged.push(msg);
      if (msg.startsWith('listening on ')) child.kill('SIGTERM');
    }
    await once(child, 'close');
    expect(logged).to.include(
      `PUBLIC_URL is http://localhost:9999: the server listens on port ${port}; set PUBLIC_URL to http://localhost:${port}, or leave it out`,
    );
    expect(said).to.contain(`Duebook runs on http://127.0.0.1:${port} and has no organisation yet`);
    expect(said).not.to.contain('localhost:9999');
  });

  it('exits 78 with all errors of its configuration', async () => {
    const child = run({ PORT: 'x', EDITION: 'cloud' });
    const said: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).to.equal(78);
    expect(said.join('')).to.equal(
      'The configuration has 2 faults:\n  EDITION must be one of self_hosted, saas, enterprise_hybrid, not "cloud"\n  PORT must be an integer from 0 to 65535, not "x"\n',
    );
  });

  it('exits 78 in production when one of several single sign-on providers has no organisations', async () => {
    const provider = {
      id: 'corp',
      name: 'Corp',
      issuer: 'https://login.example.com',
      clientId: 'duebook',
      clientSecret: 'shh',
      tenants: ['acme'],
    };
    const { tenants: _, ...silent } = provider;
    const child = run({
      NODE_ENV: 'production',
      SECRET_KEYS: generateKeyRingText(),
      FILE_SCAN_MODE: 'off',
      SSO_PROVIDERS: JSON.stringify([provider, { ...silent, id: 'second' }]),
    });
    const said: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).to.equal(78);
    expect(said.join('')).to.equal(
      'The configuration has a fault:\n  SSO_PROVIDERS has several providers, and one of them has no tenants (second): list the organisations that it serves, or "*" alone for all\n',
    );
  });

  it('exits 78 and names DATA_DIR when its keys cannot be stored there', async () => {
    const file = join(home, 'a-file');
    writeFileSync(file, '');
    const child = run({ DATA_DIR: file });
    const said: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).to.equal(78);
    expect(said.join('')).to.equal(
      `The configuration has a fault:\n  DATA_DIR must be a folder, but ${file} is a file: set DATA_DIR to another path\n`,
    );
  });

  it('reports a port in use, and exits 1', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    try {
      const child = run({ PORT: String(port), PUBLIC_URL: `http://localhost:${port}` });
      const said: string[] = [];
      child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
      const [code] = (await once(child, 'close')) as [number];
      expect(code).to.equal(1);
      expect(said.join('')).to.contain(`"msg":"cannot start: 127.0.0.1:${port} is in use; set PORT to another port"`);
    } finally {
      holder.close();
    }
  });

  it('names an address that it cannot listen on with the fix, and exits 1', async () => {
    const child = run({ HOST: '192.0.2.7', PORT: '18093' });
    const said: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).to.equal(1);
    expect(said.join('')).to.contain(
      '"msg":"cannot start: 192.0.2.7 is no address of this machine (EADDRNOTAVAIL); set HOST to 127.0.0.1, to 0.0.0.0 for all addresses, or to one that this machine has"',
    );
    expect(listenFault('EACCES', { host: '0.0.0.0', port: 80 })).to.deep.equal({
      problem: 'this user may not listen on port 80',
      fix: 'set PORT to 1024 or above, and let a proxy listen on the port below',
    });
  });

  it('exits 1 when it cannot start', async () => {
    const child = run({ PLATFORM_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    child.stdout.resume();
    child.stderr.resume();
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).to.equal(1);
  });
});
