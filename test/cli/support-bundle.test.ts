import { expect } from 'chai';
import { strFromU8, unzipSync } from 'fflate';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { redactor } from '../../cli/support/redact.js';
import { SHOWN } from '../../cli/support/configuration.js';
import { SETTINGS } from '../../server/config.js';
import { administration } from '../support/administration.js';
import { startCalendarProvider } from '../support/calendar-provider.js';
import { installations } from '../support/cli.js';
import { freePort } from '../support/guardian.js';
import { startReceiver } from '../support/receiver.js';
import { aContract } from '../support/samples.js';
import { startServer } from '../support/server.js';
import { startHybrid } from '../support/hybrid.js';
import { startAgent } from '../support/joined-agent.js';
import { workThrough, type Markers } from '../hybrid/canary-work.js';

const filesIn = (path: string): Map<string, string> =>
  new Map(Object.entries(unzipSync(readFileSync(path))).map(([name, bytes]) => [name, strFromU8(bytes)]));
const jsonIn = <T>(files: Map<string, string>, name: string): T => JSON.parse(files.get(name) ?? 'null') as T;

describe('duebook support-bundle', function () {
  this.timeout(240_000);
  const install = installations();

  it('has what helps, and no secret, no contract data, no name and no address', async () => {
    const { inProcess, folder } = await install();
    const secrets: Record<string, string> = {
      METRICS_TOKEN: 'canary-metrics-token',
      BOT_CHALLENGE_SECRET: 'canary-challenge-secret',
      SMTP_URL: 'smtp://canary-mail-user:canary-mail-word@canary-mail-host.example:2525',
      MAIL_FROM: 'Canary Sender <canary-sender@canary-mail.example>',
      PRODUCT_NAME: 'Canary Product',
      CONTRACT_LINK: 'https://canary-console.example/canary-path/{contractId}',
      CORS_ORIGINS: 'https://canary-origin.example',
      BOT_CHALLENGE_HOSTNAMES: 'canary-challenge.example',
      AI_GATEWAY_ALLOWED_PROVIDERS: 'canary-provider',
      AI_GATEWAY_ALLOWED_MODELS: 'canary-model',
    };
    const port = String(await freePort());
    const publicUrl = `http://127.0.0.1:${port}`;
    const receiver = await startReceiver();
    const calendar = await startCalendarProvider('google', { publicUrl });
    const server = await startServer({
      env: {
        ...calendar.env,
        PORT: port,
        PUBLIC_URL: publicUrl,
        LOG_LEVEL: 'trace',
        OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
        METRICS_TOKEN: secrets['METRICS_TOKEN'] ?? '',
      },
    });
    try {
      const org = await administration(server);
      const markers: Markers = new Map();
      await workThrough({ server, org, receiver, calendar, markers });
      expect(markers.size).to.be.greaterThan(40);
      const { dataDir } = server.config;
      const keys = readFileSync(join(dataDir, 'secret-keys'), 'utf8').trim();
      const log = join(folder, 'server.log');
      writeFileSync(log, server.logged.map((line) => `${JSON.stringify(line)}\n`).join(''));
      appendFileSync(
        log,
        [
          JSON.stringify({
            level: 50,
            msg: 'unexpected error',
            token: 'canary-in-field',
            err: {
              type: 'Error',
              code: 'X',
              message: 'canary-in-message',
              stack: `Error: canary-in-stack\n    at read (file:///opt/canary-folder/dist/server/main.js:1:2)\n    at canary`,
            },
          }),
          JSON.stringify({
            level: 30,
            msg: 'sent to canary-someone@canary-person.example from 203.0.113.9',
            ip: '203.0.113.9',
          }),
          'canary text that is no JSON',
          '',
        ].join('\n'),
      );
      const path = join(folder, 'support.zip');
      const { code, stdout, stderr } = await inProcess(
        ['support-bundle', path, '--log', log, '--log-lines', '100000', '--json'],
        {
          env: {
            ...calendar.env,
            DATA_DIR: dataDir,
            PORT: port,
            PUBLIC_URL: publicUrl,
            BOT_CHALLENGE_PROVIDER: 'turnstile',
            SSO_PROVIDERS: JSON.stringify([
              {
                id: 'corp',
                name: 'Canary Corp',
                issuer: 'https://canary-issuer.example',
                clientId: 'canary-client',
                clientSecret: 'canary-client-secret',
              },
            ]),
            OBJECT_STORE_URL:
              's3://canary-access:canary-secret@canary-store.example:9000/canary-bucket?region=canary-region',
            ...secrets,
          },
        },
      );
      expect(code, stderr).to.equal(0);
      const files = filesIn(path);
      expect((JSON.parse(stdout) as { files: string[] }).files).to.have.members([...files.keys()]);
      expect([...files.keys()]).to.have.members([
        'about.json',
        'configuration.json',
        'doctor.json',
        'databases.json',
        'links.json',
        'metrics.txt',
        'log.jsonl',
        'log.json',
      ]);
      expect(statSync(path).mode & 0o777).to.equal(0o600);

      // What helps.
      const { settings } = jsonIn<{ settings: { name: string; value: unknown }[] }>(files, 'configuration.json');
      expect(settings.map(({ name }) => name)).to.deep.equal(Object.values(SETTINGS).map(({ name }) => name));
      const valueOf = (name: string) => settings.find((one) => one.name === name)?.value;
      expect(valueOf('PORT')).to.equal(Number(port));
      expect(valueOf('EDITION')).to.equal('self_hosted');
      expect(valueOf('OBJECT_STORE_URL')).to.contain('s3:').and.contain('region');
      const { checks } = jsonIn<{ checks: { name: string; status: string }[] }>(files, 'doctor.json');
      expect(checks.map(({ name }) => name)).to.include.members(['platform_database', 'object_store', 'mail']);
      const databases = jsonIn<{ name: string; pending: string[]; tables: { table: string; rows: number }[] }[]>(
        files,
        'databases.json',
      );
      expect(databases.map(({ name, pending }) => [name, pending])).to.deep.equal([
        ['platform', []],
        ['tenant', []],
      ]);
      expect(databases[1]?.tables.find(({ table }) => table === 'contracts')?.rows).to.be.greaterThan(0);
      expect(files.get('metrics.txt')).to.contain('duebook_').and.contain('# HELP');
      const lines = (files.get('log.jsonl') ?? '').trimEnd().split('\n');
      expect(lines.length).to.be.greaterThan(20);
      expect(lines.some((line) => line.includes('"route"'))).to.equal(true);
      expect(files.get('log.jsonl')).to.contain('dist/server/main.js:1:2');
      expect(jsonIn<{ leftOut: number }>(files, 'log.json').leftOut).to.equal(1);

      // What must not be in it.
      const all = [...files.values()].join('\n');
      expect(all.toLowerCase()).not.to.contain('canary');
      for (const [what, { word }] of markers) expect(all, what).not.to.contain(word);
      for (const key of keys.split(',')) expect(all).not.to.contain(key.split(':')[1]);
      for (const secret of [org.tenant.slug, org.owner.email, dataDir, '203.0.113.9']) {
        expect(all).not.to.contain(secret);
        expect(all).not.to.contain(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
      }
    } finally {
      await server.stop();
      await receiver.stop();
      await calendar.stop();
    }
  });

  it('has the state of the links, without the names of organisations', async () => {
    const { inProcess, folder } = await install();
    const server = await startHybrid();
    try {
      const org = await administration(server);
      const agent = await startAgent(server, org.tenant.id);
      try {
        const made = await org.asOwner.post(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        );
        expect(made.status).to.equal(201);
        const path = join(folder, 'support.zip');
        const { dataDir, publicUrl } = server.config;
        const env = {
          EDITION: 'enterprise_hybrid',
          DATA_DIR: dataDir,
          PUBLIC_URL: publicUrl,
          PORT: new URL(server.url).port,
        };
        expect((await inProcess(['support-bundle', path], { env })).code).to.equal(0);
        const files = filesIn(path);
        const links = jsonIn<{ served: boolean; agents: { status: string; version: string; components: object[] }[] }>(
          files,
          'links.json',
        );
        expect(links.served).to.equal(true);
        expect(links.agents.map(({ status, version }) => [status, version])).to.deep.equal([['connected', '0.1.0']]);
        expect([...files.values()].join('\n')).not.to.contain(org.tenant.slug);
      } finally {
        await agent.stop();
      }
    } finally {
      await server.stop();
    }
  });

  it('works where nothing runs, replaces no file, and leaves none behind', async () => {
    const { inProcess, folder, dataDir } = await install();
    const path = join(folder, 'support.zip');
    const { code } = await inProcess(['support-bundle', path], {
      env: { TENANT_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' },
    });
    expect(code).to.equal(0);
    expect(existsSync(dataDir)).to.equal(false);
    const [platform, tenant] = jsonIn<{ pending: string[]; error?: string }[]>(filesIn(path), 'databases.json');
    expect(platform?.pending.length).to.be.greaterThan(10);
    expect(tenant?.error).to.not.equal(undefined);
    const again = await inProcess(['support-bundle', path]);
    expect([again.code, again.stderr.includes('already exists')]).to.deep.equal([2, true]);
    const other = join(folder, 'other.zip');
    expect((await inProcess(['support-bundle', other, '--log', join(folder, 'none.log')])).code).to.equal(2);
    expect((await inProcess(['support-bundle', other, '--log-lines', 'many'])).code).to.equal(2);
    expect(existsSync(other)).to.equal(false);
  });

  it('shows the text of settings that have closed sets of values only', () => {
    const names = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
    for (const name of SHOWN) expect(names.has(name), name).to.equal(true);
    for (const name of ['PUBLIC_URL', 'SECRET_KEYS', 'SMTP_URL', 'MAIL_FROM', 'DATA_DIR', 'PRODUCT_NAME'])
      expect(SHOWN.has(name), name).to.equal(false);
  });

  it('redacts what looks like an address or a secret, wherever it comes from', () => {
    const redact = redactor(['https://book.corp.example/path'], { kept: new Set() });
    expect(redact('book.corp.example and BOOK.CORP.EXAMPLE')).to.equal('[redacted] and [redacted]');
    expect(redact('ann@acme.example from 192.0.2.7, not 127.0.0.1')).to.equal(
      '[redacted] from [redacted], not 127.0.0.1',
    );
    expect(redact('postgres://ann:word@db')).not.to.contain('word');
    expect(redact(`dpj_${'a'.repeat(43)} ${Buffer.alloc(32, 7).toString('base64')}`)).to.equal('[redacted] [redacted]');
  });
});
