import { expect } from 'chai';
import Sqlite from 'better-sqlite3';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { sharedMinio } from '../support/minio.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';
import { skip } from '../support/skip.js';
import { startMailServer, type MailServer } from '../support/smtp.js';

interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  fix: string | null;
}
const reportOf = ({ stdout }: Outcome): { ok: boolean; checks: Check[] } =>
  JSON.parse(stdout) as { ok: boolean; checks: Check[] };
const bootstrap = [
  'bootstrap',
  '--tenant-slug',
  'acme',
  '--tenant-name',
  'Acme',
  '--email',
  'ann@acme.example',
  '--name',
  'Ann Lee',
];

/**
 * The checks that are not ok after something was broken, except the warnings about mail and about the missing
 * production mode, which have separate tests.
 */
async function troubles(
  { inProcess }: Installation,
  env: Record<string, string> = {},
  nodeVersion?: string,
): Promise<{ code: number | null; found: Check[] }> {
  const outcome = await inProcess(['doctor', '--json'], { env, ...(nodeVersion === undefined ? {} : { nodeVersion }) });
  const { ok, checks } = reportOf(outcome);
  expect(ok).to.equal(!checks.some(({ status }) => status === 'fail'));
  expect(outcome.code).to.equal(ok ? 0 : 1);
  for (const { status, fix } of checks) expect(fix === null).to.equal(status === 'ok');
  return {
    code: outcome.code,
    found: checks.filter(({ name, status }) => status !== 'ok' && !['mail', 'environment'].includes(name)),
  };
}
const named = (found: Check[]) => found.map(({ name, status }) => `${name} ${status}`);

describe('duebook doctor', () => {
  const installation = installations();
  /** With port 0, because other programs may listen on the default port. */
  const install = async (): Promise<Installation> => {
    const made = await installation();
    return {
      ...made,
      inProcess: (args, options = {}) => made.inProcess(args, { ...options, env: { PORT: '0', ...options.env } }),
    };
  };

  it('finds nothing wrong with a healthy installation, and prints a line for each check', async () => {
    const { inProcess } = await install();
    await inProcess(bootstrap);
    const json = await inProcess(['doctor', '--json']);
    expect(reportOf(json).checks.map(({ name, status }) => `${name} ${status}`)).to.deep.equal([
      'node ok',
      'environment warn',
      'configuration ok',
      'public_url ok',
      'port ok',
      'data_dir ok',
      'disk ok',
      'platform_database ok',
      'tenant_database ok',
      'clock ok',
      'keys ok',
      'object_store ok',
      'scanner ok',
      'agent_links ok',
      'sso ok',
      'mail warn',
    ]);
    expect(json.stderr).to.equal('');
    const text = await inProcess(['doctor']);
    expect(text.stdout.trimEnd().split('\n')).to.have.length(16);
    expect(text.code).to.equal(0);
  });

  it('creates nothing before the first start', async () => {
    const installation = await install();
    const { code, found } = await troubles(installation);
    expect(named(found)).to.deep.equal(['platform_database warn', 'tenant_database warn']);
    expect(found[0]?.fix).to.contain('duebook migrate');
    expect(existsSync(installation.dataDir)).to.equal(false);
    expect(code).to.equal(0);
  });

  it('names an invalid data folder', async () => {
    const installation = await install();
    writeFileSync(join(installation.folder, 'file'), '');
    const { code, found } = await troubles(installation, { DATA_DIR: join(installation.folder, 'file', 'data') });
    expect(found.find(({ name }) => name === 'data_dir')).to.include({ status: 'fail' });
    expect(found.find(({ name }) => name === 'data_dir')?.fix).to.contain('DATA_DIR');
    expect(code).to.equal(1);
  });

  it('names an unusable object store, without its secret, and leaves nothing in a usable one', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    const files = join(installation.dataDir, 'files');
    mkdirSync(files);
    expect((await troubles(installation)).found).to.deep.equal([]);
    expect(
      readdirSync(files, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
    ).to.deep.equal([]);
    const file = join(installation.folder, 'file');
    writeFileSync(file, '');
    const folder = await troubles(installation, { OBJECT_STORE_URL: `file:${file}` });
    expect(named(folder.found)).to.deep.equal(['object_store fail']);
    expect(folder.found[0]?.fix).to.contain(file);
    const bucket = await installation.inProcess(['doctor', '--json'], {
      env: { OBJECT_STORE_URL: 's3://key:planted-secret@127.0.0.1:1/book?tls=false' },
    });
    const found = reportOf(bucket).checks.find(({ name }) => name === 'object_store');
    expect(found?.status).to.equal('fail');
    expect(found?.fix).to.contain('OBJECT_STORE_URL');
    expect(bucket.stdout + bucket.stderr).not.to.contain('planted-secret');
  });

  it('names a folder for files that cannot be created', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    writeFileSync(join(installation.folder, 'file'), '');
    const { found } = await troubles(installation, {
      OBJECT_STORE_URL: `file:${join(installation.folder, 'file', 'files')}`,
    });
    expect(named(found)).to.deep.equal(['object_store fail']);
    expect(found[0]?.detail).to.contain('cannot be created');
    expect(found[0]?.fix).to.contain('OBJECT_STORE_URL');
  });

  it('does not report a bucket that the first start creates, and does not create it', async function () {
    const minio = await sharedMinio().catch((error: unknown) =>
      skip(this, error instanceof Error ? error.message : String(error)),
    );
    const installation = await install();
    await installation.inProcess(bootstrap);
    for (const _again of [1, 2]) {
      const { code, found } = await troubles(installation, { OBJECT_STORE_URL: minio.url(`duebook-d-${process.pid}`) });
      expect(named(found)).to.deep.equal(['object_store warn']);
      expect(found[0]?.detail).to.contain('does not exist yet');
      expect(found[0]?.fix).to.contain('s3:CreateBucket');
      expect(code).to.equal(0);
    }
    const refused = await troubles(installation, {
      OBJECT_STORE_URL: `s3://${encodeURIComponent(minio.accessKey)}:another-secret@${new URL(minio.origin).host}/duebook-d-${process.pid}?tls=false`,
    });
    expect(named(refused.found)).to.deep.equal(['object_store fail']);
    expect(refused.found[0]?.detail).to.contain('the secret key does not match the access key');
    expect(refused.found[0]?.fix).to.match(/^correct the secret key in OBJECT_STORE_URL/);
  });

  it('names a database that does not respond, without its password', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    const outcome = await installation.inProcess(['doctor', '--json'], {
      env: {
        PLATFORM_DATABASE_URL: `sqlite:${join(installation.dataDir, 'platform.db')}`,
        TENANT_DATABASE_URL: 'postgres://ann:planted-password@127.0.0.1:1/book',
      },
    });
    const bad = reportOf(outcome).checks.filter(
      ({ name, status }) => status !== 'ok' && !['mail', 'environment'].includes(name),
    );
    expect(named(bad)).to.deep.equal(['tenant_database fail']);
    expect(bad[0]?.fix).to.contain('TENANT_DATABASE_URL');
    expect(outcome.stdout + outcome.stderr).not.to.contain('planted-password');
    expect((JSON.parse(outcome.stderr) as { error: { code: string } }).error.code).to.equal('CHECKS_FAILED');
    expect(outcome.code).to.equal(1);
  });

  it('names a file that is not a database', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    rmSync(join(installation.dataDir, 'tenant.db-wal'), { force: true });
    writeFileSync(
      join(installation.dataDir, 'tenant.db'),
      'this is no database, only a text that is long enough to be read as a header of one'.repeat(20),
    );
    expect(named((await troubles(installation)).found)).to.deep.equal(['tenant_database fail']);
  });

  it('names pending migrations and a database that is too new', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    const change = (sql: string) => {
      const file = new Sqlite(join(installation.dataDir, 'tenant.db'));
      file.exec(sql);
      file.close();
    };
    change("INSERT INTO schema_migrations (id, checksum) VALUES ('9999-from-the-future', 'x')");
    expect(named((await troubles(installation)).found)).to.deep.equal(['tenant_database fail']);
    change('DELETE FROM schema_migrations');
    const { found } = await troubles(installation);
    expect(named(found)).to.deep.equal(['tenant_database warn']);
    expect(found[0]?.fix).to.equal('run "duebook migrate"');
  });

  it('names missing secret keys', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    rmSync(join(installation.dataDir, 'secret-keys'));
    const { found } = await troubles(installation);
    expect(named(found)).to.deep.equal(['keys fail']);
    expect(found[0]?.fix).to.contain('SECRET_KEYS');
    expect(existsSync(join(installation.dataDir, 'secret-keys'))).to.equal(false);
  });

  it('names secret keys that are not those of the database', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    const { found } = await troubles(installation, { SECRET_KEYS: `other:${Buffer.alloc(32, 5).toString('base64')}` });
    expect(named(found)).to.deep.equal(['keys fail']);
  });

  it('names secret keys that others can read', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    chmodSync(join(installation.dataDir, 'secret-keys'), 0o644);
    const { code, found } = await troubles(installation);
    expect(named(found)).to.deep.equal(['keys warn']);
    expect(found[0]?.fix).to.match(/^chmod 600 /);
    expect(code).to.equal(0);
  });

  it('names a Node.js that is too old', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    expect(named((await troubles(installation, {}, '20.18.3')).found)).to.deep.equal(['node fail']);
    expect(named((await troubles(installation, {}, '22.14.0')).found)).to.deep.equal([]);
  });

  it('repeats the warnings of the configuration', async () => {
    const installation = await install();
    await installation.inProcess(bootstrap);
    expect(named((await troubles(installation, { DUEBOOK_PORT: '1' })).found)).to.deep.equal(['configuration warn']);
  });

  describe('of a PostgreSQL on another machine', () => {
    needsPostgres();

    it('warns if the connection has no TLS', async () => {
      const installation = await install();
      const { url, drop } = await createDatabase();
      try {
        const elsewhere = Object.assign(new URL(url), { hostname: '0.0.0.0' }).href;
        const warned = async (address: string) =>
          reportOf(
            await installation.inProcess(['doctor', '--json'], {
              env: {
                PLATFORM_DATABASE_URL: address,
                TENANT_DATABASE_URL: `sqlite:${join(installation.dataDir, 'tenant.db')}`,
              },
            }),
          ).checks.find(({ name }) => name === 'configuration');
        expect(await warned(url)).to.include({ status: 'ok' });
        const { status, detail } = (await warned(elsewhere)) ?? {};
        expect([status, detail]).to.deep.equal([
          'warn',
          'PLATFORM_DATABASE_URL is a PostgreSQL server on another machine without TLS: queries and results are sent unencrypted; add ?sslmode=verify-full',
        ]);
        const { stderr } = await installation.inProcess(['migrate'], { env: { PLATFORM_DATABASE_URL: elsewhere } });
        expect(stderr, 'and so does a command that uses it').to.contain(
          'Warning: PLATFORM_DATABASE_URL is a PostgreSQL server on another machine',
        );
      } finally {
        await drop();
      }
    });
  });

  describe('of mail', () => {
    const undo: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const stop of undo.splice(0)) await stop();
    });
    const mailServer = async (options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> => {
      const server = await startMailServer(options);
      undo.push(server.stop);
      return server;
    };
    /** The result about mail, from the JSON and from the last line of the text. */
    const mailOf = async (smtpUrl?: string): Promise<Check & { line: string; everything: string }> => {
      const { inProcess } = await install();
      const env: Record<string, string> =
        smtpUrl === undefined ? {} : { SMTP_URL: smtpUrl, MAIL_FROM: 'Duebook <duebook@book.example>' };
      const json = await inProcess(['doctor', '--json'], { env });
      const text = await inProcess(['doctor'], { env });
      const found = reportOf(json).checks.find(({ name }) => name === 'mail');
      if (!found) throw new Error(json.stdout);
      expect(json.code).to.equal(found.status === 'fail' ? 1 : 0);
      return {
        ...found,
        line: text.stdout.trimEnd().split('\n').at(-1) ?? '',
        everything: [json.stdout, json.stderr, text.stdout, text.stderr].join('\n'),
      };
    };
    const account = { user: 'ann', password: 'planted-password' };

    it('warns that none is sent without SMTP_URL', async () => {
      const { status, fix, line } = await mailOf();
      expect([status, fix]).to.deep.equal(['warn', 'set SMTP_URL and MAIL_FROM']);
      expect(line).to.equal(
        'warn  mail: no mail is sent: SMTP_URL is not set; invitation links must be passed on by hand, and passwords reset with "duebook members reset-password" -> set SMTP_URL and MAIL_FROM',
      );
    });

    it('accepts a server that responds, and sends nothing', async () => {
      const server = await mailServer();
      const { status, fix, line } = await mailOf(server.url);
      expect([status, fix]).to.deep.equal(['ok', null]);
      expect(line).to.equal(`ok    mail: ${new URL(server.url).host} answers`);
      expect(server.mails).to.deep.equal([]);
    });

    it('accepts a server that accepts user and password, and shows neither', async () => {
      const { detail, status, everything } = await mailOf((await mailServer({ account })).url);
      expect(status, detail).to.equal('ok');
      expect(detail).to.match(/^127\.0\.0\.1:\d+ answers and does not refuse user and password$/);
      expect(everything).not.to.contain(account.password);
    });

    it('names a password that the server refuses', async () => {
      const { status, detail, fix, everything } = await mailOf(
        (await mailServer({ account })).url.replace(account.password, 'other-password'),
      );
      expect(status).to.equal('fail');
      expect(detail).to.match(/cannot be used \(EAUTH 535\)$/);
      expect(fix).to.equal('correct the user and password in SMTP_URL');
      expect(everything).not.to.contain('other-password');
    });

    it('does not send a password to a server without TLS', async () => {
      const { status, fix } = await mailOf((await mailServer({ account })).url.replace('/?requireTLS=false', ''));
      expect(status).to.equal('fail');
      expect(fix).to.contain('TLS').and.contain('SMTP_URL');
    });

    it("does not accept another machine's server without TLS, and warns about one that is allowed by the URL", async () => {
      const { elsewhere } = await mailServer();
      const refused = await mailOf(elsewhere);
      expect(refused.status).to.equal('fail');
      expect(refused.detail).to.match(/cannot be used \(ETLS/);
      expect(refused.fix).to.contain('STARTTLS').and.contain('requireTLS=false');
      const open = await mailOf(`${elsewhere}?requireTLS=false`);
      expect(open.status).to.equal('warn');
      expect(open.detail).to.contain('is sent unencrypted');
      expect(open.everything).to.match(/warn +configuration: SMTP_URL has requireTLS=false/);
    });

    it('names an unreachable server', async () => {
      const { status, detail, fix } = await mailOf('smtp://127.0.0.1:1');
      expect([status, detail]).to.deep.equal([
        'fail',
        '127.0.0.1:1 cannot be used (ESOCKET: connect ECONNREFUSED 127.0.0.1:1)',
      ]);
      expect(fix).to.equal(
        'check that host and port of SMTP_URL are correct and reachable from here, and with smtps:// that the certificate is trusted here',
      );
    });
  });
});
