import { expect } from 'chai';
import pg from 'pg';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import type { Database, Row } from '../../data-plane-agent/base/database/database.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { fakeClock } from '../support/clock.js';
import { aCall } from '../support/plane.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';
import { aContract } from '../support/samples.js';

/** Reads the catalogue of a real PostgreSQL, so that all tables are checked, including those of later migrations. */
describe('every table of the tenant database', () => {
  needsPostgres();
  let place: TestDatabase;
  let database: Database;
  const catalogue = (sql: string): Promise<Row[]> => database.exclusive((connection) => connection.all(sql));

  before(async () => {
    place = await createDatabase();
    database = await openDatabase(place.url, { poolMax: 4 });
    await migrate(database, TENANT_MIGRATIONS);
  });
  after(async () => database.close());

  it('has the tenant as first column of every primary key, unique index and foreign key', async () => {
    const keys = await catalogue(`
      SELECT t.relname AS name, i.relname AS key, a.attname AS first FROM pg_index x
      JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
      WHERE x.indisunique AND t.relnamespace = current_schema()::regnamespace AND t.relname <> 'schema_migrations'
      UNION ALL
      SELECT t.relname, c.conname, a.attname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
      WHERE c.contype = 'f' AND t.relnamespace = current_schema()::regnamespace`);
    expect(keys.length).to.be.greaterThan(20);
    expect(keys.filter(({ first }) => first !== 'tenant_id')).to.deep.equal([]);
  });

  it("forces row-level security by tenant, also for the tables' owner", async () => {
    const tables = await catalogue(`
      SELECT c.relname AS name, c.relrowsecurity::int AS enabled, c.relforcerowsecurity::int AS forced
      FROM pg_class c WHERE c.relkind IN ('r', 'p', 'm', 'f') AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'schema_migrations'`);
    expect(tables.length).to.be.greaterThan(10);
    expect(tables.filter(({ enabled, forced }) => enabled !== 1 || forced !== 1)).to.deep.equal([]);
  });

  it('has one policy for all statements, which allows only rows of the tenant', async () => {
    const policies = await catalogue(`
      SELECT c.relname AS name, p.polcmd::text AS command, p.polpermissive::int AS permissive, p.polroles::text AS roles,
        pg_get_expr(p.polqual, c.oid) AS shown, pg_get_expr(p.polwithcheck, c.oid) AS taken
      FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid
      WHERE c.relkind IN ('r', 'p', 'm', 'f') AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'schema_migrations'`);
    const ofTenant = "(tenant_id = (NULLIF(current_setting('duebook.tenant'::text, true), ''::text))::uuid)";
    const others = policies.filter(
      ({ command, permissive, roles, shown, taken }) =>
        command !== '*' ||
        permissive !== 1 ||
        roles !== '{0}' ||
        shown !== ofTenant ||
        (taken !== null && taken !== ofTenant),
    );
    // One table can be read by setting an instant instead of a tenant: it then shows the work due by that instant.
    // Writing requires the tenant.
    const [found, ...rest] = others.toSorted((a, b) =>
      a['name'] === 'due_work' ? -1 : b['name'] === 'due_work' ? 1 : 0,
    );
    expect(found).to.deep.equal({
      name: 'due_work',
      command: 'r',
      permissive: 1,
      roles: '{0}',
      shown: "(due_at <= (NULLIF(current_setting('duebook.due_until'::text, true), ''::text))::bigint)",
      taken: null,
    });
    // One table shows fewer rows: those of the tenant that match the current search.
    expect(
      rest.map(({ name, command, taken, shown }) => [
        name,
        command,
        taken,
        String(shown).startsWith(`(${ofTenant} AND (grams @> `),
      ]),
    ).to.deep.equal([['contract_grams', '*', ofTenant, true]]);
    expect(new Set(policies.map(({ name }) => name)).size).to.equal(policies.length - 1);
  });

  it('shows due work without a tenant up to the given instant, and accepts no writes', async () => {
    const [one, other] = [newId(), newId()];
    const put = (scope: string | null, tenantId: string, dueAt: number) =>
      database.write({ tenantId: scope }, (tx) =>
        tx.run("INSERT INTO due_work (tenant_id, kind, slot, due_at) VALUES (?, 'audit', 0, ?)", [tenantId, dueAt]),
      );
    await put(one, one, 100);
    await put(other, other, 200);
    const seen = (tenantId: string | null, until?: number) =>
      database.read({ tenantId }, async (tx) => {
        if (until !== undefined) await tx.get("SELECT set_config('duebook.due_until', ?, true)", [String(until)]);
        return (await tx.all('SELECT tenant_id FROM due_work ORDER BY due_at')).map((row) => row['tenant_id']);
      });
    expect([await seen(null), await seen(null, 99), await seen(null, 100), await seen(null, 200)]).to.deep.equal([
      [],
      [],
      [one],
      [one, other],
    ]);
    expect(
      [await seen(one), await seen(other), await seen(newId())],
      'after another has named one on the connection',
    ).to.deep.equal([[one], [other], []]);
    const changed = (tenantId: string | null, sql: string) =>
      database.write({ tenantId }, async (tx) => {
        await tx.get("SELECT set_config('duebook.due_until', '1000', true)");
        return tx.run(sql);
      });
    for (const sql of ['UPDATE due_work SET due_at = 7', 'DELETE FROM due_work'])
      expect([await changed(null, sql), await changed(newId(), sql)], sql).to.deep.equal([0, 0]);
    expect(await put(null, newId(), 1).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await put(one, other, 1).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  it('shows the trigrams of searched texts only to their tenant, whatever the search', async () => {
    const data = createLocalDataPlane({
      operations: OPERATIONS,
      database,
      clock: fakeClock(),
      keyRing: parseKeyRing(generateKeyRingText()),
    });
    const [one, other] = [aCall(), aCall()];
    const made: string[] = [];
    for (const call of [one, other])
      made.push(
        (await bind(data, call, { operations: OPERATIONS }).createContract(aContract({ remark: 'searched by both' })))
          .id,
      );
    const tenantsSeen = (tenantId: string | null, pieces: string) =>
      database.read({ tenantId }, async (tx) => {
        await tx.get("SELECT set_config('duebook.grams', ?, true)", [pieces]);
        return (await tx.all('SELECT tenant_id FROM contract_grams')).map((row) => row['tenant_id']);
      });
    for (const { tenantId } of [one, other]) {
      const ofText = await database.read({ tenantId }, (tx) =>
        tx.get('SELECT grams[1:3]::text AS some FROM contract_grams'),
      );
      for (const pieces of ['', '{}', String(ofText?.['some'])])
        expect(await tenantsSeen(tenantId, pieces), pieces).to.deep.equal([tenantId]);
      for (const otherTenant of [newId(), null])
        expect(await tenantsSeen(otherTenant, String(ofText?.['some']))).to.deep.equal([]);
    }
    await bind(data, one, { operations: OPERATIONS }).deleteContract({ contractId: made[0] ?? '' });
    expect([await tenantsSeen(one.tenantId, '{}'), await tenantsSeen(other.tenantId, '{}')]).to.deep.equal([
      [],
      [other.tenantId],
    ]);
  });

  it("reads and writes only rows of the transaction's tenant, whatever the statement", async () => {
    const [one, other] = [newId(), newId()];
    const insert = (scope: string, tenantId: string) =>
      database.write({ tenantId: scope }, (tx) =>
        tx.run('INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, 0, 1)', [tenantId]),
      );
    await insert(one, one);
    await insert(other, other);
    const seen = (tenantId: string | null) =>
      database.read({ tenantId }, async (tx) =>
        (await tx.all('SELECT tenant_id FROM data_versions')).map((row) => row['tenant_id']),
      );
    expect(await seen(one)).to.deep.equal([one]);
    expect(await seen(other)).to.deep.equal([other]);
    expect(await seen(null)).to.deep.equal([]);
    expect(await database.write({ tenantId: one }, (tx) => tx.run('UPDATE data_versions SET version = 9'))).to.equal(1);
    expect(await insert(one, other).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  it('limits the tenant to its transaction: the next user of a connection does not inherit it', async () => {
    const narrow = await openDatabase(place.url, { poolMax: 1 });
    try {
      await narrow.read({ tenantId: newId() }, (tx) => tx.all('SELECT 1'));
      const rows = await narrow.read({ tenantId: null }, (tx) =>
        tx.all("SELECT current_setting('duebook.tenant', true) AS tenant"),
      );
      expect(rows[0]?.['tenant']).to.equal('');
    } finally {
      await narrow.close();
    }
  });

  it('is owned by a role that cannot bypass the policies', async () => {
    const client = new pg.Client({ connectionString: place.url });
    await client.connect();
    const { rows } = await client.query('SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user');
    await client.end();
    expect(rows).to.deep.equal([{ rolsuper: false, rolbypassrls: false }]);
  });
});
