import { expect } from 'chai';
import { Table, type Columns } from '../../data-plane-agent/base/database/columns.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { sourceFiles } from '../support/source.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';

/** The types of columns whose values are written as the declared one. */
const WRITTEN_AS: Readonly<Record<string, readonly string[]>> = {
  uuid: ['uuid'],
  text: ['text'],
  bigint: ['bigint', 'integer'],
  'double precision': ['double precision'],
};

const TABLES = 'data-plane-agent/plane/tables/';

describe('the declared columns', () => {
  needsPostgres();

  it('have their types on PostgreSQL, where new rows are given as an array for each column', async () => {
    const created = await createDatabase({ migrated: 'tenant' });
    const database = await openDatabase(created.url, { poolMax: 2 });
    const found = new Map<string, string>();
    await database.exclusive(async (connection) => {
      const rows = await connection.all(
        "SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped",
      );
      for (const { name, type } of rows) found.set(String(name), String(type));
    });
    const wrong: string[] = [];
    let compared = 0;
    for (const file of sourceFiles().filter((path) => path.startsWith(TABLES))) {
      const declared = Object.values((await import(`../../${file.replace(/\.ts$/, '.js')}`)) as object);
      for (const table of declared.filter((one): one is Table<Columns> => one instanceof Table))
        for (const { name, type } of table.columns.values()) {
          compared += 1;
          const actual = found.get(`${table.name}.${name}`) ?? 'none';
          if (!WRITTEN_AS[type]?.includes(actual)) wrong.push(`${table.name}.${name} is ${actual}, not ${type}`);
        }
    }
    expect(wrong).to.deep.equal([]);
    expect(compared).to.be.greaterThan(250);
    await database.close();
    await created.drop();
  });
});
