import { expect } from 'chai';
import { existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { connectionFault } from '../../data-plane-agent/base/database/postgres-faults.js';
import { installations, type Installation } from '../support/cli.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';
import { serverUntilEnd } from '../support/server-process.js';

interface Check {
  name: string;
  status: string;
  detail: string;
  fix: string | null;
}
type Env = Readonly<Record<string, string>>;

const BOOTSTRAP = 'bootstrap --tenant-slug acme --tenant-name Acme --email ann@acme.example --name Ann'.split(' ');

async function databaseCheck({ inProcess }: Installation, env: Env, name: string): Promise<Check | undefined> {
  const { stdout } = await inProcess(['doctor', '--json'], { env });
  return (JSON.parse(stdout) as { checks: Check[] }).checks.find((one) => one.name === name);
}

describe('the databases of an installation', function () {
  this.timeout(180_000); // starts processes
  const install = installations();

  describe('on PostgreSQL', () => {
    needsPostgres();
    let database: TestDatabase;
    before(async () => {
      database = await createDatabase();
    });
    after(() => database.drop());

    const changed = (change: (url: URL) => void): string => {
      const url = new URL(database.url);
      change(url);
      return url.href;
    };
    const tables = async (): Promise<number> => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        const { rows } = await client.query<{ n: number }>(
          "SELECT count(*)::int AS n FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
        );
        return rows[0]?.n ?? -1;
      } finally {
        await client.end();
      }
    };

    it('are refused before anything is written if both URLs name the same one, even with different spellings', async () => {
      const { port, username, pathname } = new URL(database.url);
      const name = pathname.slice(1);
      const message = `TENANT_DATABASE_URL names the same PostgreSQL database as PLATFORM_DATABASE_URL (${name}): each needs a database of its own; create a second one with: createdb -h 127.0.0.1 -p ${port} -U postgres -O ${username} ${name}_contracts ; then put ${name}_contracts in place of ${name} in TENANT_DATABASE_URL`;
      const installation = await install();
      const env = { PLATFORM_DATABASE_URL: database.url, TENANT_DATABASE_URL: database.url };
      for (const args of [['migrate'], ['migrate', '--status'], BOOTSTRAP]) {
        const { code, stderr, stdout } = await installation.inProcess(args, { env });
        expect([code, stderr, stdout], args.join(' ')).to.deep.equal([
          78,
          `The configuration has a fault:\n  ${message}\n`,
          '',
        ]);
      }
      for (const other of [
        changed((url) => (url.hostname = 'localhost')),
        changed((url) => (url.protocol = 'postgresql:')),
        changed((url) => url.searchParams.set('application_name', 'other')),
        database.adminUrl,
      ]) {
        const { code, stderr } = await installation.inProcess(['migrate'], {
          env: { ...env, TENANT_DATABASE_URL: other },
        });
        expect(code, other).to.equal(78);
        expect(stderr).to.contain('names the same PostgreSQL database as PLATFORM_DATABASE_URL');
      }
      expect(await serverUntilEnd(installation, env)).to.include({
        code: 78,
        stderr: `The configuration has a fault:\n  ${message}\n`,
      });
      expect(await databaseCheck(installation, env, 'platform_database')).to.include({ status: 'warn' });
      const found = await databaseCheck(installation, env, 'tenant_database');
      expect(found?.status).to.equal('fail');
      expect(`${found?.detail}; ${found?.fix}`).to.equal(message);
      expect(await tables()).to.equal(0);
    });

    it('may be two databases of one server', async () => {
      const { inProcess } = await install();
      const [platform, tenant] = await Promise.all([createDatabase(), createDatabase()]);
      try {
        const env = { PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url };
        expect((await inProcess(['migrate'], { env })).code).to.equal(0);
      } finally {
        await Promise.all([platform.drop(), tenant.drop()]);
      }
    });

    it('are not named, nor is any part of the password, if it seems not to be percent-encoded', async () => {
      const installation = await install();
      for (const url of [
        'postgres://u:planted@planted/planted@127.0.0.1:5432/db',
        'postgres://u:12/planted@127.0.0.1:5432/db',
        'postgres://u:12?planted@127.0.0.1:5432/db',
      ]) {
        const env = { TENANT_DATABASE_URL: url };
        const found = await databaseCheck(installation, env, 'tenant_database');
        expect(found?.fix, url).to.contain('percent-encode / # ? @ : %').and.contain('TENANT_DATABASE_URL');
        const { code, stderr } = await installation.inProcess(['migrate'], { env });
        expect([code, stderr.includes('percent-encode')]).to.deep.equal([1, true]);
        const started = await serverUntilEnd(installation, env);
        const said = JSON.stringify(found) + stderr + started.stdout + started.stderr;
        expect(started.stdout).to.contain('percent-encode');
        expect(said).not.to.match(/planted|\bENOTFOUND \w|u:12\b/);
      }
    });

    it('are reported with the cause if they cannot be connected to: by doctor, by commands and at the start', async () => {
      const { host, port, username } = new URL(database.url);
      const causes: readonly (readonly [url: string, problem: string, fix: string])[] = [
        [
          changed((url) => (url.password = 'planted-password')),
          `the server at ${host} refuses the password of the user ${username} (28P01)`,
          'correct the user and password in TENANT_DATABASE_URL',
        ],
        [
          changed((url) => (url.password = '')),
          `the server at ${host} requires a password of the user ${username}, and the URL has none`,
          'add the password to TENANT_DATABASE_URL',
        ],
        [
          changed((url) => (url.pathname = '/no_such_database')),
          `the database no_such_database does not exist on the server at ${host} (3D000)`,
          `createdb -h 127.0.0.1 -p ${port} -U postgres -O ${username} no_such_database`,
        ],
        [
          changed((url) => (url.port = '1')),
          'the connection to 127.0.0.1:1 is refused: no server listens there (ECONNREFUSED)',
          'start PostgreSQL',
        ],
        [
          changed((url) => (url.hostname = 'no-such-host.invalid')),
          'the host no-such-host.invalid is unknown: its name has no address (E',
          'correct the host in TENANT_DATABASE_URL',
        ],
        [
          changed((url) => url.searchParams.set('sslmode', 'verify-full')),
          `no TLS connection to ${host}`,
          'sslrootcert=',
        ],
        [
          changed((url) => url.searchParams.set('sslrootcert', '/no/such/ca.pem')),
          'the file /no/such/ca.pem that the URL names cannot be read (ENOENT)',
          'correct sslrootcert, sslcert or sslkey in TENANT_DATABASE_URL',
        ],
      ];
      const installation = await install();
      for (const [url, problem, fix] of causes) {
        const env = { TENANT_DATABASE_URL: url };
        const found = await databaseCheck(installation, env, 'tenant_database');
        expect(found?.status).to.equal('fail');
        expect(found?.detail).to.satisfy((detail: string) => detail.startsWith(problem), found?.detail);
        expect(found?.fix).to.contain(fix);
        const { code, stderr } = await installation.inProcess(['migrate'], { env });
        expect(code).to.equal(1);
        expect(stderr).to.contain(`duebook: TENANT_DATABASE_URL: ${problem}`).and.contain(fix);
        expect(JSON.stringify(found) + stderr).not.to.contain('planted-password');
      }
      const [wrongPassword = ''] = causes.map(([url]) => url);
      const { code, stdout } = await serverUntilEnd(installation, { TENANT_DATABASE_URL: wrongPassword });
      const fatal = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { level: number; msg: string; fix?: string })
        .filter(({ level }) => level === 60);
      expect(fatal.map(({ msg }) => msg)).to.deep.equal([`cannot start: TENANT_DATABASE_URL: ${causes[0]?.[1]}`]);
      expect(fatal[0]?.fix).to.contain('correct the user and password');
      expect(stdout).not.to.contain('planted-password');
      expect(code).to.equal(1);
      expect(existsSync(join(installation.dataDir, 'platform.db')), 'nothing is written first').to.equal(false);
    });

    it('are reported with the cause also after a timeout, and if the server rejects the user', () => {
      const explain = (error: Error) => connectionFault(error, { url: database.url, name: 'TENANT_DATABASE_URL' });
      const { host } = new URL(database.url);
      expect(explain(new Error('timeout expired')).problem).to.equal(`${host} does not answer within 5 s`);
      expect(explain(Object.assign(new Error(), { code: 'ETIMEDOUT' })).fix).to.contain('firewall');
      expect(explain(Object.assign(new Error(), { code: '28000' })).fix).to.contain('pg_hba.conf');
      expect(explain(Object.assign(new Error(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })).problem).to.contain('TLS');
      expect(explain(new Error('what is this')).problem).to.equal('cannot be used: what is this');
    });
  });

  it('on SQLite are refused if both URLs name the same file, also by another path or a link', async () => {
    const { inProcess, folder, dataDir } = await install();
    const file = join(folder, 'book.db');
    const refused = async (other: string) => {
      const { code, stderr } = await inProcess(['migrate'], {
        env: { PLATFORM_DATABASE_URL: `sqlite:${file}`, TENANT_DATABASE_URL: `sqlite:${other}` },
      });
      expect(stderr).to.contain('TENANT_DATABASE_URL names the same SQLite file as PLATFORM_DATABASE_URL');
      expect(stderr).to.contain(`such as sqlite:${dirname(other)}/tenant.db;`);
      expect(code).to.equal(78);
    };
    await refused(file);
    await refused(join(folder, 'elsewhere', '..', 'book.db'));
    expect(existsSync(file)).to.equal(false);
    writeFileSync(file, '');
    mkdirSync(dataDir, { recursive: true });
    linkSync(file, join(dataDir, 'linked.db'));
    await refused(join(dataDir, 'linked.db'));
  });
});
