import { expect } from 'chai';
import pg from 'pg';
import { newId } from '../../data-plane-agent/base/ids.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import type { Database, Row } from '../../data-plane-agent/base/database/database.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';

/** Reads the catalogue of a real PostgreSQL: what it says holds for every table, also for those of later migrations. */
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

  it('begins every primary key, unique index and foreign key with the tenant', async () => {
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

  it('forces row-level security by tenant, also on the tables\' owner', async () => {
    const tables = await catalogue(`
      SELECT c.relname AS name, c.relrowsecurity::int AS enabled, c.relforcerowsecurity::int AS forced, 
        (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND pg_get_expr(p.polqual, p.polrelid) LIKE '(tenant_id = %') AS policies
      FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'schema_migrations'`);
    expect(tables.length).to.be.greaterThan(10);
    expect(tables.filter(({ enabled, forced, policies }) => enabled !== 1 || forced !== 1 || policies !== 1)).to.deep.equal([]);
  });

  it('lets nothing but the salted hashes of searched texts be read past that', async () => {
    const others = await catalogue("SELECT polrelid::regclass::text AS name, polcmd::text AS command FROM pg_policy WHERE polcmd <> '*'");
    expect(others).to.deep.equal([{ name: 'contract_grams', command: 'r' }]);
  });

  it('shows and takes only rows of the transaction\'s tenant, whatever the statement says', async () => {
    const [one, other] = [newId(), newId()];
    const insert = (scope: string, tenantId: string) =>
      database.write({ tenantId: scope }, (tx) => tx.run('INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, 0, 1)', [tenantId]));
    await insert(one, one);
    await insert(other, other);
    const seen = (tenantId: string | null) => database.read({ tenantId }, async (tx) => (await tx.all('SELECT tenant_id FROM data_versions')).map((row) => row['tenant_id']));
    expect(await seen(one)).to.deep.equal([one]);
    expect(await seen(other)).to.deep.equal([other]);
    expect(await seen(null)).to.deep.equal([]);
    expect(await database.write({ tenantId: one }, (tx) => tx.run('UPDATE data_versions SET version = 9'))).to.equal(1);
    expect(await insert(one, other).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  it('keeps the tenant to its transaction: the next user of a connection does not inherit it', async () => {
    const narrow = await openDatabase(place.url, { poolMax: 1 });
    try {
      await narrow.read({ tenantId: newId() }, (tx) => tx.all('SELECT 1'));
      const rows = await narrow.read({ tenantId: null }, (tx) => tx.all("SELECT current_setting('duebook.tenant', true) AS tenant"));
      expect(rows[0]?.['tenant']).to.equal('');
    } finally {
      await narrow.close();
    }
  });

  it('is owned by a role that cannot pass the policies by', async () => {
    const client = new pg.Client({ connectionString: place.url });
    await client.connect();
    const { rows } = await client.query('SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user');
    await client.end();
    expect(rows).to.deep.equal([{ rolsuper: false, rolbypassrls: false }]);
  });
});
