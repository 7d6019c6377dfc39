import SqliteConnection from 'better-sqlite3';
import pg from 'pg';
import type { Row } from './answers.js';
import { kept, type KeptSetting, type Source } from './contract.js';
import { postgresStore, SCHEMA } from './postgres.js';
import { openSqlite, sqliteStore } from './sqlite.js';
import { indexes, tables } from './tables.js';

/** Whose contracts are copied, and how they are answered. */
export interface Copied extends KeptSetting {
  readonly tenantId: string;
}

/** The tables of a contract's parts in the product's database, in the order in which the answer has their rows. */
const PARTS = {
  lines: ['payment_lines', 'AND deleted_at IS NULL ORDER BY due_date, position, id'],
  terms: ['contract_terms', 'ORDER BY position, id'],
  notes: ['contract_notes', 'ORDER BY position, id'],
  tasks: ['fulfillment_tasks', 'AND deleted_at IS NULL ORDER BY created_at, id'],
  invoices: ['invoices', 'AND deleted_at IS NULL ORDER BY created_at, id'],
} as const;
type Part = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as Part[];
const CONTRACTS = 'SELECT * FROM contracts WHERE tenant_id = ? AND deleted_at IS NULL ORDER BY id';

/** Rows of one transaction of the copy. */
const BATCH = 5_000;

/** Writes the tables of the raw program into a new file, from the product's file. */
export function fillSqlite(productFile: string, file: string, copied: Copied): void {
  const [outer, product] = [0, 1].map(() => new SqliteConnection(productFile, { readonly: true }));
  const own = openSqlite(file);
  try {
    if (!outer || !product) return;
    for (const sql of tables('sqlite')) own.exec(sql);
    const store = sqliteStore(own);
    const of = PART_NAMES.map((part) => {
      const [table, more] = PARTS[part];
      return [part, product.prepare(`SELECT * FROM ${table} WHERE tenant_id = ? AND contract_id = ? ${more}`)] as const;
    });
    let n = 0;
    own.exec('BEGIN');
    for (const row of outer.prepare(CONTRACTS).iterate(copied.tenantId) as IterableIterator<Row>) {
      const parts = of.map(([part, statement]) => [part, statement.all(copied.tenantId, row['id'])]);
      store.insert(kept({ row, ...(Object.fromEntries(parts) as Omit<Source, 'row'>) }, copied));
      if (++n % BATCH === 0) own.exec('COMMIT; BEGIN');
    }
    own.exec('COMMIT');
    for (const sql of indexes('sqlite')) own.exec(sql);
    own.exec('ANALYZE');
    own.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    for (const connection of [outer, product, own]) connection?.close();
  }
}

/** Below every id; an empty text is no UUID. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Writes the tables of the raw program into a schema of their own, beside the product's tables. */
export async function fillPostgres(adminUrl: string, copied: Copied): Promise<void> {
  const product = new pg.Client({ connectionString: adminUrl });
  const own = postgresStore(adminUrl);
  try {
    await product.connect();
    await own.run(`CREATE EXTENSION IF NOT EXISTS pg_trgm`);
    await own.run(`CREATE SCHEMA ${SCHEMA}`);
    for (const sql of tables('postgres')) await own.run(sql);
    const select = async (sql: string, values: readonly unknown[]): Promise<Row[]> => {
      let n = 0;
      return (
        await product.query<Row>(
          sql.replaceAll('?', () => `$${++n}`),
          [...values],
        )
      ).rows;
    };
    for (let after = NO_ID; ;) {
      const rows = await select(
        'SELECT * FROM contracts WHERE tenant_id = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT 500',
        [copied.tenantId, after],
      );
      const last = rows.at(-1);
      if (!last) break;
      after = String(last['id']);
      const sources = await withParts(rows, (sql, values) => select(sql, [copied.tenantId, ...values]));
      await Promise.all(sources.map(async (source) => own.create(kept(source, copied))));
    }
    for (const sql of indexes('postgres')) await own.run(sql);
    for (const table of ['contracts', 'texts', 'lines', 'parts']) await own.run(`VACUUM ANALYZE ${SCHEMA}.${table}`);
  } finally {
    await own.end();
    await product.end();
  }
}

async function withParts(
  rows: readonly Row[],
  select: (sql: string, values: readonly unknown[]) => Promise<Row[]>,
): Promise<Source[]> {
  const ids = rows.map((row) => String(row['id']));
  const empty = (): Omit<Source, 'row'> & Record<Part, Row[]> => ({
    lines: [],
    terms: [],
    notes: [],
    tasks: [],
    invoices: [],
  });
  const byContract = new Map(ids.map((id) => [id, empty()]));
  for (const part of PART_NAMES) {
    const [table, more] = PARTS[part];
    for (const row of await select(`SELECT * FROM ${table} WHERE tenant_id = ? AND contract_id = ANY(?) ${more}`, [
      ids,
    ]))
      byContract.get(String(row['contract_id']))?.[part].push(row);
  }
  return rows.map((row) => ({ row, ...(byContract.get(String(row['id'])) ?? empty()) }));
}
