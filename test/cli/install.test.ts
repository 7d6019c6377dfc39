import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { envText, variablesIn } from '../../cli/install/env-file.js';
import { QUESTIONS } from '../../cli/install/questions.js';
import { parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { needsClamd, startClamd, type TestClamd } from '../support/clamd.js';
import { freePort } from '../support/guardian.js';
import { sharedMinio, type S3Server } from '../support/minio.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';
import { skip } from '../support/skip.js';
import { read } from '../support/source.js';

interface Report {
  readonly target: string;
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly detail: string;
    readonly fix: string | null;
  }[];
  readonly files: readonly { readonly path: string; readonly status: string }[];
  readonly next: readonly string[];
}
const reportOf = ({ stdout, stderr }: Outcome): Report => {
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Report;
};
const errorOf = ({ code, stderr }: Outcome): { code: number | null; error: string; message: string } => {
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
  return { code, error: error.code, message: error.message };
};
const textOf = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('duebook install', function () {
  this.timeout(240_000);
  const install = installations();
  const ANSWERS = {
    target: 'local',
    publicUrl: 'https://book.example.com',
    platformDatabase: 'sqlite',
    objectStore: 'folder',
    scanner: 'off',
    mail: 'none',
    port: 0,
  };
  const written = async (
    { inProcess, folder }: Installation,
    answers: object,
    {
      more = [],
      env = {},
    }: { readonly more?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<Outcome & { readonly out: string }> => {
    const out = join(folder, 'out');
    const file = join(folder, 'answers.json');
    writeFileSync(file, JSON.stringify({ ...ANSWERS, ...answers, out }), { mode: 0o600 });
    return { ...(await inProcess(['install', '--answers', file, '--json', ...more], { env })), out };
  };

  describe('with real servers', () => {
    needsPostgres();
    needsClamd();
    let databases: readonly TestDatabase[];
    let minio: S3Server;
    let clamd: TestClamd;
    before(async function () {
      minio = await sharedMinio().catch((error: unknown) =>
        skip(this, error instanceof Error ? error.message : String(error)),
      );
      clamd = await startClamd();
    });
    beforeEach(async () => {
      databases = [await createDatabase(), await createDatabase()];
    });
    afterEach(async () => {
      for (const database of databases) await database.drop();
    });
    after(() => clamd?.stop());
    const answers = async () => ({
      platformDatabase: databases[0]?.url,
      tenantDatabase: databases[1]?.url,
      objectStore: minio.url(`duebook-i-${process.pid}`),
      scanner: clamd.url,
      port: await freePort(),
    });

    it('makes a folder that runs: its commands, its server, and an end with 0', async () => {
      const installation = await install();
      const file = join(installation.folder, 'answers.json');
      const out = join(installation.folder, 'it is here');
      const given = { ...ANSWERS, ...(await answers()), out };
      writeFileSync(file, JSON.stringify(given), { mode: 0o600 });
      const outcome = await installation.cli(['install', '--answers', file, '--json']);
      expect(outcome.code, outcome.stderr).to.equal(0);
      const report = reportOf(outcome);
      expect(report.checks.filter(({ status }) => status === 'fail')).to.deep.equal([]);
      expect(report.checks.map(({ name }) => name)).to.include.members([
        'node',
        'port',
        'disk',
        'platform_database',
        'platform_rights',
        'tenant_rights',
        'object_store',
        'scanner',
        'mail',
      ]);
      expect(report.checks.find(({ name }) => name === 'platform_rights')?.detail).to.match(/^PostgreSQL \d+; tables/);
      expect(modeOf(join(out, 'duebook.env'))).to.equal(0o600);
      expect(outcome.stdout + outcome.stderr).not.to.contain(new URL(databases[0]?.url ?? '').password);

      const env = { PATH: process.env['PATH'] ?? '', HOME: installation.folder };
      const run = (args: readonly string[]): string =>
        execFileSync(join(out, 'duebook'), args, { env, cwd: '/', encoding: 'utf8', input: 'Correct-Horse-42' });
      run('bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'.split(' '));
      const server = spawn(join(out, 'run'), { env, cwd: '/', stdio: 'ignore' });
      const ended = once(server, 'exit');
      try {
        await until(async () => (await fetch(`http://127.0.0.1:${given.port}/readyz`)).status === 200);
        const { checks } = JSON.parse(run(['doctor', '--json'])) as Report;
        expect(checks.filter(({ status }) => status === 'fail')).to.deep.equal([]);
      } finally {
        server.kill('SIGTERM');
      }
      expect((await ended)[0]).to.equal(0);
    });

    it('fails for each server that cannot be used, and writes nothing', async () => {
      const installation = await install();
      const good = await answers();
      const secret = 'planted-secret';
      const cases: Readonly<Record<string, object>> = {
        platform_database: { platformDatabase: `postgres://ann:${secret}@127.0.0.1:1/book` },
        tenant_database: { tenantDatabase: good.platformDatabase },
        object_store: { objectStore: `s3://key:${secret}@127.0.0.1:1/book?tls=false` },
        scanner: { scanner: 'tcp://127.0.0.1:1' },
        mail: { mail: `smtp://ann:${secret}@127.0.0.1:1`, mailFrom: 'Duebook <duebook@book.example>' },
      };
      for (const [name, bad] of Object.entries(cases)) {
        const outcome = await written(installation, { ...good, ...bad });
        const report = reportOf(outcome);
        expect([outcome.code, report.ok, report.files], name).to.deep.equal([1, false, []]);
        expect(
          report.checks.filter(({ status }) => status === 'fail').map((check) => check.name),
          name,
        ).to.deep.equal([name]);
        expect(existsSync(outcome.out), name).to.equal(false);
        expect(outcome.stdout + outcome.stderr).not.to.contain(secret);
      }
      // Only there: not looked at, and said.
      const elsewhere = await written(
        installation,
        { ...good, ...cases['scanner'], ...cases['mail'] },
        { more: ['--unreachable', 'scanner', 'mail'] },
      );
      expect(elsewhere.code, elsewhere.stderr).to.equal(0);
      expect(
        reportOf(elsewhere)
          .checks.filter(({ detail }) => detail.includes('not examined'))
          .map(({ name, status }) => `${name} ${status}`),
      ).to.deep.equal(['scanner warn', 'mail warn']);
    });

    it('refuses a role that may not create tables, and a database with the keys of another installation', async () => {
      const installation = await install();
      const [database, other] = databases;
      if (!database || !other) throw new Error('there are two databases');
      const { url, adminUrl } = await createDatabase();
      await execSql(adminUrl, `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO CURRENT_USER`);
      const refused = reportOf(await written(installation, { ...(await answers()), platformDatabase: url }));
      const rights = refused.checks.find(({ name }) => name === 'platform_rights');
      expect([rights?.status, rights?.detail.includes('may not create tables')]).to.deep.equal(['fail', true]);

      const used = await installation.inProcess(
        'bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'.split(' '),
        { env: { PLATFORM_DATABASE_URL: database.url, TENANT_DATABASE_URL: other.url }, input: 'Correct-Horse-42' },
      );
      expect(used.code, used.stderr).to.equal(0);
      const taken = reportOf(await written(installation, await answers()));
      expect(taken.checks.filter(({ status }) => status === 'fail').map(({ name }) => name)).to.deep.equal(['keys']);
    });
  });

  it('lists everything that is missing without a terminal, and exits 2', async () => {
    const { inProcess, folder } = await install();
    const outcome = await inProcess(['install', '--target', 'local', '--json'], {});
    const { code, error, message } = errorOf(outcome);
    expect([code, error]).to.deep.equal([2, 'ANSWERS_MISSING']);
    for (const flag of ['--public-url', 'PLATFORM_DATABASE_URL', 'OBJECT_STORE_URL', '--scanner', 'SMTP_URL'])
      expect(message).to.contain(flag);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('asks on a terminal for what is missing, with defaults', async () => {
    const { inProcess, folder } = await install();
    const out = join(folder, 'asked');
    const { code, stdout, stderr } = await inProcess(
      ['install', '--target', 'local', '--mail', 'none', '--port', '0'],
      { answers: ['', '', 'https://book.example.com', 'sqlite', '', 'folder', 'off', out] },
    );
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain('This has no default.').and.contain('Edition: self_hosted');
    expect(stdout)
      .to.contain(`written    ${join(out, 'run')}`)
      .and.contain("duebook' bootstrap");
    expect(variablesIn(textOf(out, 'duebook.env'))).to.include({
      PUBLIC_URL: 'https://book.example.com',
      EDITION: 'self_hosted',
      TRUST_PROXY: '1',
    });
  });

  it('reports all faults of the answers at once, and accepts no password as an option', async () => {
    const installation = await install();
    const { code, error, message } = errorOf(
      await written(installation, {
        publicUrl: 'http://book.example.com',
        scanner: 'nowhere',
        mail: 'smtp://h',
        mailFrom: '@',
      }),
    );
    expect([code, error]).to.deep.equal([2, 'ANSWERS_INVALID']);
    expect(message)
      .to.match(/publicUrl must be https.*\n?/)
      .and.contain('scanner must be')
      .and.contain('mailFrom must be');
    const unknown = errorOf(await written(installation, { color: 'red', target: 'moon' }));
    expect([unknown.code, unknown.error]).to.deep.equal([2, 'USAGE']);
    expect(unknown.message).to.contain('"color" is no answer');
    const open = await installation.inProcess(['install', '--platform-database', 'postgres://a:planted@h/b', '--json']);
    expect(errorOf(open)).to.include({ code: 2, error: 'USAGE' });
    expect(open.stderr).not.to.contain('planted');
    writeFileSync(join(installation.folder, 'bad.json'), '{ "mail": "smtp://ann:planted@h" ');
    const broken = await installation.inProcess([
      'install',
      '--answers',
      join(installation.folder, 'bad.json'),
      '--json',
    ]);
    expect(errorOf(broken).message).to.match(/cannot be read: it is no JSON$/);
    const gone = await installation.inProcess(['install', '--answers', '/nowhere/a.json', '--json']);
    expect(errorOf(gone).message).to.contain('ENOENT');
  });

  it('warns about settings that are valid but will not work for users', async () => {
    const installation = await install();
    const bucket = { objectStore: 's3://key:secret@127.0.0.1:9000/book?tls=false', scanner: 'tcp://127.0.0.1:3310' };
    const configuration = async (answers: object) =>
      reportOf(
        await written(installation, answers, { more: ['--unreachable', 'object-store', 'scanner', '--force'] }),
      ).checks.find(({ name }) => name === 'configuration');
    const open = await configuration(bucket);
    expect(open?.status).to.equal('warn');
    expect(open?.detail).to.match(/^OBJECT_STORE_PUBLIC_URL is not set, .* open on this machine only/);
    expect(open?.fix).to.equal('change the answer filesUrl');
    const well = await configuration({ ...bucket, filesUrl: 'https://files.example.com' });
    expect([well?.status, well?.detail]).to.deep.equal(['ok', 'valid']);
  });

  it('takes answers from the environment of the server, below options and file', async () => {
    const installation = await install();
    const env = { PUBLIC_URL: 'https://other.example', SMTP_URL: '', CLAMAV_URL: 'tcp://127.0.0.1:1' };
    const { out, code } = await written(installation, {}, { env });
    expect(code).to.equal(0);
    expect(variablesIn(textOf(out, 'duebook.env'))).to.include({
      PUBLIC_URL: 'https://book.example.com',
      FILE_SCAN_MODE: 'off',
    });
  });

  it('can be run again: keeps what is the same, refuses what differs, and never loses secrets', async () => {
    const installation = await install();
    const { out } = await written(installation, {});
    const path = join(out, 'duebook.env');
    const before = variablesIn(textOf(out, 'duebook.env'));
    parseKeyRing(before['SECRET_KEYS'] ?? '');
    expect(before['METRICS_TOKEN']).to.have.length.greaterThan(20);
    chmodSync(path, 0o644);
    const again = reportOf(await written(installation, {}));
    expect(new Set(again.files.map(({ status }) => status))).to.deep.equal(new Set(['unchanged']));
    expect(modeOf(path)).to.equal(0o600);

    writeFileSync(path, `${readFileSync(path, 'utf8')}LOG_LEVEL=debug\n`);
    const other = { publicUrl: 'https://new.example' };
    const refused = await written(installation, other);
    expect(errorOf(refused)).to.include({ code: 1, error: 'FILES_EXIST' });
    expect(errorOf(refused).message).to.contain(path).and.contain('--force');
    expect(variablesIn(textOf(out, 'duebook.env'))['PUBLIC_URL']).to.equal('https://book.example.com');

    const forced = reportOf(await written(installation, other, { more: ['--force'] }));
    expect(forced.files.filter(({ status }) => status === 'replaced').map((file) => file.path)).to.deep.equal([path]);
    expect(variablesIn(textOf(out, 'duebook.env'))).to.deep.equal({
      ...before,
      PUBLIC_URL: 'https://new.example',
      LOG_LEVEL: 'debug',
    });
    expect(variablesIn(textOf(out, 'duebook.env.previous'))['PUBLIC_URL']).to.equal('https://book.example.com');
    expect(modeOf(`${path}.previous`)).to.equal(0o600);

    for (const damage of ['LOG_LEVEL=debug\n', "SECRET_KEYS='k1:c2hvcnQ='\n"]) {
      writeFileSync(path, damage);
      expect(errorOf(await written(installation, other, { more: ['--force'] })).error).to.equal('SECRETS_UNREADABLE');
      expect(readFileSync(path, 'utf8')).to.equal(damage);
    }
  });

  it('writes a systemd unit that is confined and stops within its time', async () => {
    const installation = await install();
    const { out, code, stderr } = await written(installation, { target: 'systemd' });
    expect(code, stderr).to.equal(0);
    expect(variablesIn(textOf(out, 'duebook.env'))['DATA_DIR']).to.equal('/var/lib/duebook');
    const lines = textOf(out, 'duebook.service').split('\n');
    for (const line of [
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'ReadWritePaths=/var/lib/duebook',
      'CapabilityBoundingSet=',
      'Restart=on-failure',
      'KillSignal=SIGTERM',
      'EnvironmentFile=/etc/duebook/duebook.env',
    ])
      expect(lines).to.include(line);
    const stop = Number(/^TimeoutStopSec=(\d+)$/m.exec(lines.join('\n'))?.[1]);
    expect(stop).to.be.at.least(30);
    expect(lines.find((line) => line.startsWith('ExecStart='))).to.match(/^ExecStart="\/.+" "\/.+\/server\/main\.js"$/);
    expect(textOf(out, 'duebook')).to.contain("'/etc/duebook/duebook.env'");
  });

  it('writes the secrets and settings of Docker Compose', async function () {
    const installation = await install();
    const { inProcess, folder } = installation;
    const out = join(folder, 'docker');
    const args = ['install', '--target', 'compose', '--public-url', 'https://book.example.com', '--json', '--out', out];
    expect(errorOf(await inProcess(args, {})).message)
      .to.contain('--files-url')
      .and.not.contain('DATABASE');
    const all = [...args, '--files-url', 'https://files.example.com', '--mail', 'none'];
    const outcome = await inProcess(all, { env: {} });
    if (reportOf(outcome).checks.some(({ name, status }) => name === 'port' && status === 'fail'))
      skip(this, 'port 8080, which compose.yaml has, is in use on this machine');
    expect(outcome.code, outcome.stderr).to.equal(0);
    expect(variablesIn(textOf(out, '.env'))).to.include({
      PUBLIC_URL: 'https://book.example.com',
      OBJECT_STORE_PUBLIC_URL: 'https://files.example.com',
    });
    expect(modeOf(join(out, 'secrets'))).to.equal(0o700);
    const secret = (name: string): string => textOf(join(out, 'secrets'), name);
    parseKeyRing(secret('secret_keys'));
    expect(new URL(secret('platform_database_url')).password).to.equal(secret('database_password'));
    expect(new URL(secret('tenant_database_url')).pathname).to.equal('/duebook_contracts');
    expect(new URL(secret('object_store_url')).password).to.equal(secret('object_store_password'));
    const again = reportOf(await inProcess(all, {}));
    expect(new Set(again.files.map(({ status }) => status))).to.deep.equal(new Set(['unchanged']));
  });

  it('writes the values and the Secret of Helm', async () => {
    const installation = await install();
    const { out, code, stderr } = await written(
      installation,
      {
        target: 'helm',
        platformDatabase: 'postgres://ann:word@db.example/platform?sslmode=verify-full',
        tenantDatabase: 'postgres://ann:word@db.example/contracts?sslmode=verify-full',
        objectStore: 's3://key:secret@s3.example/book?region=eu-west-1',
        filesUrl: 'https://files.example',
        scanner: 'tcp://clamav.scanner.svc:3310',
        mail: 'smtp://ann:word@mail.example',
        mailFrom: "Ann O'Neil <ann@book.example>",
      },
      { more: ['--unreachable', 'database', 'object-store', 'scanner', 'mail'] },
    );
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(textOf(out, 'values.yaml'))).to.deep.equal({
      publicUrl: 'https://book.example.com',
      edition: 'self_hosted',
      existingSecret: 'duebook',
      database: { type: 'postgres' },
      objectStore: { type: 's3', publicUrl: 'https://files.example' },
      scanner: { mode: 'clamav', url: 'tcp://clamav.scanner.svc:3310' },
      persistence: { enabled: false },
      settings: { TRUST_PROXY: '1', MAIL_FROM: "Ann O'Neil <ann@book.example>" },
    });
    const lines = textOf(out, 'secret.env').trimEnd().split('\n');
    expect(lines.map((line) => line.split('=')[0])).to.deep.equal([
      'SECRET_KEYS',
      'METRICS_TOKEN',
      'SMTP_URL',
      'PLATFORM_DATABASE_URL',
      'TENANT_DATABASE_URL',
      'OBJECT_STORE_URL',
    ]);
    expect(lines[4]).to.equal('TENANT_DATABASE_URL=postgres://ann:word@db.example/contracts?sslmode=verify-full');
    expect(modeOf(join(out, 'secret.env'))).to.equal(0o600);
  });

  it('has an example in its help that works', async () => {
    const { inProcess, folder } = await install();
    const line = /^ {2}\$ duebook (install --target .+)$/m.exec(read('test/cli/golden/install.txt'))?.[1] ?? '';
    const out = join(folder, 'duebook');
    const args = line.replace('/srv/duebook', out).split(' ');
    const { code, stderr } = await inProcess([...args, '--port', '0']);
    expect(code, stderr).to.equal(0);
    expect(existsSync(join(out, 'run'))).to.equal(true);
  });

  it('writes each value so that a shell reads the same', () => {
    const variables = {
      PLAIN: 'postgres://ann:p%40ss@h/b?sslmode=verify-full',
      SPACE: 'Duebook <duebook@book.example>',
      DOLLAR: 'a$HOME`id`"b"\\',
      NAME: "Ann O'Neil",
      URL: "smtp://ann:o'neil$@h",
    };
    const text = envText(variables);
    const shell = execFileSync('/bin/sh', ['-c', `set -a\n${text}env`], { env: {}, encoding: 'utf8' });
    for (const [name, value] of Object.entries({ ...variables, URL: 'smtp://ann:o%27neil$@h' })) {
      expect(shell).to.contain(`${name}=${value}\n`);
      expect(variablesIn(text)[name]).to.equal(value);
    }
    expect(() => envText({ BAD: `it's "$x"` })).to.throw(RangeError, 'BAD');
    expect(() => envText({ BAD: 'two\nlines' })).to.throw(RangeError, 'BAD');
  });

  it('documents each answer', () => {
    const page = read(join('docs', 'install.md'));
    for (const { key } of QUESTIONS) expect(page, key).to.contain(`\`${key}\``);
  });
});

async function execSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = performance.now() + 60_000; ; await sleep(100)) {
    if (await isSo().catch(() => false)) return;
    if (performance.now() > giveUpAt) throw new Error('it is still not so after 60 s');
  }
}
