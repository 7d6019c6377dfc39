import { expect } from 'chai';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { TENANT_SEALED_COLUMNS } from '../../data-plane-agent/plane/store/sealed-columns.js';
import { MOVED, NOT_MOVED } from '../../data-plane-agent/plane/tables/moved.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';

/** Reads the catalogue of a migrated database, so that a table of a later migration is not forgotten. */
describe('the tables whose rows are moved', () => {
  needsPostgres();
  let database: Database;
  before(async () => {
    database = await openDatabase((await createDatabase({ migrated: 'tenant' })).url, { poolMax: 2 });
  });
  after(async () => database?.close());

  const catalogue = (sql: string) => database.exclusive((connection) => connection.all(sql));
  const columnsOf = async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const tables = new Map<string, Set<string>>();
    for (const { name, column } of await catalogue(
      "SELECT table_name AS name, column_name AS column FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'schema_migrations'",
    ))
      tables.set(String(name), (tables.get(String(name)) ?? new Set()).add(String(column)));
    return tables;
  };

  it('are all tables of the database, except those that stay for a reason', async () => {
    const tables = await columnsOf();
    expect(tables.size).to.be.greaterThan(30);
    expect([...MOVED.map(({ name }) => name), ...Object.keys(NOT_MOVED)]).to.have.members([...tables.keys()]);
    for (const reason of Object.values(NOT_MOVED)) expect(reason.length).to.be.greaterThan(20);
  });

  it('are moved with all columns, and identified by their primary keys', async () => {
    const tables = await columnsOf();
    const keys = await catalogue(
      "SELECT t.relname AS name, string_agg(a.attname, ',' ORDER BY a.attname) AS columns FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (x.indkey) WHERE x.indisprimary AND t.relnamespace = current_schema()::regnamespace GROUP BY 1",
    );
    for (const { name, key, columns } of MOVED) {
      expect(['tenant_id', ...columns], name).to.have.members([...(tables.get(name) ?? [])]);
      expect([...key, 'tenant_id'].toSorted().join(','), name).to.equal(
        keys.find((one) => one['name'] === name)?.['columns'],
      );
    }
  });

  it('come after the tables to which they refer', async () => {
    const references = await catalogue(
      "SELECT t.relname AS name, r.relname AS target FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid WHERE c.contype = 'f' AND t.relnamespace = current_schema()::regnamespace",
    );
    expect(references.length).to.be.greaterThan(10);
    const place = (name: unknown): number => MOVED.findIndex((table) => table.name === name);
    const wrong = references.filter(
      ({ name, target }) => place(name) !== -1 && name !== target && place(name) < place(target),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('name each of their columns that is sealed with the keys of a data plane', () => {
    expect(MOVED.flatMap(({ name, sealed }) => (sealed === undefined ? [] : [`${name}.${sealed}`]))).to.have.members(
      TENANT_SEALED_COLUMNS.filter(({ table }) => !(table in NOT_MOVED)).map(
        ({ table, column }) => `${table}.${column}`,
      ),
    );
  });
});
