import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type TestDatabase, createDatabase, needsPostgres } from './postgres.js';
import { program } from './programs.js';

describe('PostgreSQL for tests', () => {
  needsPostgres();

  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });

  it('provides an empty database in UTF-8 and locale C, owned by the connecting role', async () => {
    expect(
      await one(
        database.url,
        `
      SELECT pg_encoding_to_char(encoding) AS encoding, datcollate, datctype, pg_get_userbyid(datdba) = current_user AS owned,
             (SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public') AS tables
      FROM pg_database WHERE datname = current_database()`,
      ),
    ).to.deep.equal({ encoding: 'UTF8', datcollate: 'C', datctype: 'C', owned: true, tables: 0 });
  });

  it('connects as a role that cannot bypass row-level security', async () => {
    expect(
      await one(
        database.url,
        'SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user',
      ),
    ).to.deep.equal({ rolsuper: false, rolbypassrls: false, rolcreatedb: false, rolcreaterole: false });
    await one(
      database.url,
      `
      CREATE TABLE kept (tenant text); INSERT INTO kept VALUES ('a'), ('b');
      ALTER TABLE kept ENABLE ROW LEVEL SECURITY; ALTER TABLE kept FORCE ROW LEVEL SECURITY;
      CREATE POLICY own ON kept USING (tenant = 'a')`,
    );
    expect(await one(database.url, 'SELECT count(*)::int FROM kept')).to.deep.equal({ count: 1 });
    expect(await one(database.adminUrl, 'SELECT count(*)::int FROM kept'), 'the superuser sees all').to.deep.equal({
      count: 2,
    });
  });

  it('isolates databases, and drops one even with open connections', async () => {
    const other = await createDatabase();
    const client = new pg.Client({ connectionString: other.url });
    client.on('error', () => undefined); // the server terminates the connection
    await client.connect();
    await client.query('CREATE TABLE here (x int)');
    expect(await one(database.url, `SELECT to_regclass('here') AS here`)).to.deep.equal({ here: null });
    await other.drop();
    expect(
      await one(
        database.adminUrl,
        `SELECT count(*)::int FROM pg_database WHERE datname = '${new URL(other.url).pathname.slice(1)}'`,
      ),
    ).to.deep.equal({ count: 0 });
    await client.end();
  });

  // The settings of an external server are not ours.
  if (!process.env['TEST_POSTGRES_URL'])
    it('enables fsync only on request', async function () {
      this.timeout(180_000); // a second initdb
      expect(await one(database.url, 'SHOW fsync')).to.deep.equal({ fsync: 'off' });
      const durable = await createDatabase({ durable: true });
      expect(await one(durable.url, 'SHOW fsync')).to.deep.equal({ fsync: 'on' });
      await durable.drop();
    });

  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    it(`leaves no server and no directory behind when the run ends by ${signal}`, async function () {
      this.timeout(180_000); // starts a server
      const { child, home, adminUrl } = await runThatStartsOne();
      expect(await one(adminUrl, 'SELECT 1 AS answer')).to.deep.equal({ answer: 1 });
      expect(existsSync(home)).to.equal(true);
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      for (const deadline = Date.now() + 20_000; existsSync(home) && Date.now() < deadline;) await sleep(20);
      expect(existsSync(home), 'its directory').to.equal(false);
      expect(
        await one(adminUrl, 'SELECT 1').then(
          () => 'answers',
          (error: NodeJS.ErrnoException) => error.code,
        ),
      ).to.equal('ECONNREFUSED');
    });
  }
});

async function one(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows?.[0]; // several statements in one text return no rows
  } finally {
    await client.end();
  }
}

/** A process that starts a server and then waits, like a test run in progress. */
async function runThatStartsOne(): Promise<{ child: ChildProcess; home: string; adminUrl: string }> {
  const script = `
    const { startServer } = await import(${JSON.stringify(program('test/support/postgres-server.ts'))});
    const { home, adminUrl } = await startServer({ durable: false });
    process.stdout.write(JSON.stringify({ home, adminUrl }) + '\\n');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const said: unknown = JSON.parse(String(line));
  if (typeof said !== 'object' || said === null || !('home' in said) || !('adminUrl' in said))
    throw new Error(`unexpected: ${String(line)}`);
  return { child, home: String(said.home), adminUrl: String(said.adminUrl) };
}
