import { SealError, type KeyRing } from '../secrets.js';
import type { Database, Row, Scope, Transaction, Value } from './database.js';

/**
 * A column of sealed text. The seal context is `table.column.` followed by the values of `place`, joined by dots, with
 * an empty string for null. `place` also identifies the row.
 */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly place: readonly string[];
}

/** The number of rows of one column sealed with each key. */
export interface SealCount {
  readonly table: string;
  readonly column: string;
  readonly keyId: string;
  readonly rows: number;
}

/** The rows of one tenant, or with `null` those of all tenants. */
interface Where {
  readonly database: Database;
  readonly tenantId: string | null;
}

/**
 * Counts the sealed rows per key. In a tenant database only the rows of one tenant are visible, so call it for each
 * tenant.
 */
export async function countSeals(
  { database, tenantId }: Where,
  columns: readonly SealedColumn[],
): Promise<SealCount[]> {
  return database.read({ tenantId }, async (tx) => {
    const counts: SealCount[] = [];
    for (const { table, column } of columns) {
      const { sql, values } = ofTenant({ tenantId });
      const rows = await tx.all(
        `SELECT ${keyIdOf(tx, column)} AS key_id, count(*) AS n FROM ${table} WHERE ${column} IS NOT NULL${sql} GROUP BY 1`,
        values,
      );
      for (const row of rows) counts.push({ table, column, keyId: String(row['key_id']), rows: Number(row['n']) });
    }
    return counts;
  });
}

export interface Resealed {
  readonly resealed: number;
  /** Rows that no key of the ring can open; they are left unchanged. */
  readonly unreadable: number;
}

/** Rows per transaction, few enough not to block other work. */
const BATCH = 200;

/**
 * Reseals with the active key every row of the column that another key sealed, one transaction per batch. It can be
 * interrupted and called again to continue. A row that changes meanwhile is skipped: its writer has sealed it with the
 * active key. `onProgress` is called after each batch.
 */
export async function reseal(
  { database, tenantId }: Where,
  column: SealedColumn,
  { keyRing, onProgress = () => undefined }: { keyRing: KeyRing; onProgress?: (rows: number) => void },
): Promise<Resealed> {
  let resealed = 0;
  let unreadable = 0;
  for (let last = BATCH; last === BATCH;) {
    const skip = unreadable;
    const batch = await database.write({ tenantId }, (tx) => resealBatch(tx, { column, keyRing, tenantId, skip }));
    resealed += batch.resealed;
    unreadable += batch.unreadable;
    last = batch.rows;
    onProgress(batch.resealed);
  }
  return { resealed, unreadable };
}

async function resealBatch(
  tx: Transaction,
  { column: sealed, keyRing, tenantId, skip }: { column: SealedColumn; keyRing: KeyRing; skip: number } & Scope,
): Promise<Resealed & { rows: number }> {
  const { table, column, place } = sealed;
  const scope = ofTenant({ tenantId });
  const prefix = `v1.${keyRing.active}.`;
  const rows = await tx.all(
    `SELECT ${[...place, column].join(', ')} FROM ${table} WHERE ${column} IS NOT NULL AND substr(${column}, 1, ${prefix.length}) <> ?${scope.sql} ORDER BY ${place.join(', ')} LIMIT ${BATCH} OFFSET ?`,
    [prefix, ...scope.values, skip],
  );
  let resealed = 0;
  let unreadable = 0;
  for (const row of rows) {
    const before = String(row[column]);
    const after = sealAnew(keyRing, before, contextOf(sealed, row));
    if (after === undefined) unreadable += 1;
    else resealed += await replace(tx, sealed, { row, before, after });
  }
  return { resealed, unreadable, rows: rows.length };
}

function sealAnew(keyRing: KeyRing, sealed: string, context: string): string | undefined {
  try {
    return keyRing.seal(keyRing.open(sealed, context), context);
  } catch (error) {
    if (error instanceof SealError) return undefined; // counted and reported
    throw error;
  }
}

/** Returns 0 when the row changed since it was read. */
function replace(
  tx: Transaction,
  { table, column, place }: SealedColumn,
  { row, before, after }: { row: Row; before: string; after: string },
): Promise<number> {
  const values: Value[] = place.flatMap((name) => row[name] ?? []);
  const conditions = place.map((name) => (row[name] === null ? `${name} IS NULL` : `${name} = ?`));
  return tx.run(`UPDATE ${table} SET ${column} = ? WHERE ${conditions.join(' AND ')} AND ${column} = ?`, [
    after,
    ...values,
    before,
  ]);
}

const contextOf = ({ table, column, place }: SealedColumn, row: Row): string =>
  [table, column, ...place.map((name) => row[name] ?? '')].join('.');

const ofTenant = ({ tenantId }: Scope): { sql: string; values: readonly Value[] } =>
  tenantId === null ? { sql: '', values: [] } : { sql: ' AND tenant_id = ?', values: [tenantId] };

/** The part between the first two dots of `v1.<key id>.<nonce>.<text>`. */
const keyIdOf = ({ dialect }: Transaction, column: string): string =>
  dialect === 'postgres'
    ? `split_part(${column}, '.', 2)`
    : `substr(${column}, 4, instr(substr(${column}, 4), '.') - 1)`;
