import { expect } from 'chai';
import type { Database, Value } from '../../data-plane-agent/base/database/database.js';
import { Insertion, JSON_TEXT } from '../../data-plane-agent/base/database/insertion.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';

const TENANT = { tenantId: newId() };
const TYPES = ['uuid', 'text', 'bigint', 'double precision', 'int[]'] as const;
const THINGS = new Insertion('things (id, name, amount, size, grams)', '(?, ?, ?, ?, ?::int[])', TYPES);
/** What means something in the text of an array, and what does not. */
const TEXTS = [
  '',
  ' ',
  ',',
  '{}',
  '{',
  '}',
  'NULL',
  'null',
  '"',
  '""',
  '\\',
  '\\"',
  "'",
  'a\nb\tc',
  'é 契約 😀',
  '$1 ?',
];

describe('rows that are inserted on PostgreSQL', () => {
  needsPostgres();
  let created: TestDatabase;
  let database: Database;
  before(async () => {
    created = await createDatabase();
    database = await openDatabase(created.url, { poolMax: 2 });
    await database.exclusive((connection) =>
      connection.run(
        'CREATE TABLE things (id UUID PRIMARY KEY, name TEXT, amount INTEGER, size DOUBLE PRECISION, grams INTEGER[] NOT NULL)',
      ),
    );
  });
  after(async () => {
    await database.close();
    await created.drop();
  });

  const inserted = async (rows: readonly (readonly Value[])[]): Promise<unknown[][]> => {
    await database.write(TENANT, (tx) => tx.insert(THINGS, rows));
    return found();
  };
  /** All rows, which are then deleted. */
  const found = (): Promise<unknown[][]> =>
    database.write(TENANT, async (tx) => {
      const rows = await tx.all('SELECT id, name, amount, size, grams::text AS grams FROM things ORDER BY id');
      await tx.run('DELETE FROM things');
      return rows.map(({ id, name, amount, size, grams }) => [id, name, amount, size, grams]);
    });
  const ordered = (rows: readonly (readonly Value[])[]) =>
    rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));

  it('have the same values whatever they contain, alone and together', async () => {
    const rows = TEXTS.map((text, n): Value[] => [newId(), text, n - 3, n / 7, n % 2 ? '{}' : `{${n},-1}`]);
    for (const row of rows) expect(await inserted([row])).to.deep.equal([row]);
    expect(await inserted(rows)).to.deep.equal(ordered(rows));
  });

  it('may be without values, in some or all of them', async () => {
    const rows: Value[][] = [
      [newId(), null, null, null, '{}'],
      [newId(), 'b', null, 1e-9, '{1}'],
      [newId(), null, -2_147_483_648, null, '{}'],
    ];
    expect(await inserted(rows)).to.deep.equal(ordered(rows));
  });

  it('may be more than go into one statement', async () => {
    const rows = Array.from({ length: 2_001 }, (_, n): Value[] => [newId(), `${n}`, n, n, '{}']);
    expect(await inserted(rows)).to.deep.equal(ordered(rows));
  });

  it('may have JSON with any characters, and none', async () => {
    const notes = new Insertion('things (id, name, grams)', '(?, ?, ?::int[])', ['uuid', JSON_TEXT, 'int[]']);
    const values = [...TEXTS, '\u001e', 'a\u0000b\u001f', [null, { 'a\u001e': ['\ud800', 1.5] }], null, ''];
    const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
    const written = ordered(values.map((value): Value[] => [newId(), json(value), '{}']));
    await database.write(TENANT, (tx) => tx.insert(notes, written));
    expect((await found()).map(([id, name, , , grams]) => [id, name, grams])).to.deep.equal(written);
  });

  it('are refused together if one of them is', async () => {
    const id = newId();
    const both: Value[][] = [
      [id, 'a', 1, 1, '{}'],
      [id, 'b', 2, 2, '{}'],
    ];
    const refused = await database.write(TENANT, (tx) => tx.insert(THINGS, both)).catch((error: unknown) => error);
    expect(refused).to.have.property('problem', 'unique');
    expect(await inserted([])).to.deep.equal([]);
  });
});
