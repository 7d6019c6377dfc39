import type { Database, Row, Scope, Transaction } from '../../base/database/database.js';
import type { DueMarks } from './due-work.js';
import { slotOf } from './slots.js';

/**
 * Increments the tenant's data version within the transaction of a write, so that what is cached under it stays exact
 * on every replica, and writes the due marks: on PostgreSQL in one statement.
 */
export async function moveDataVersion(tx: Transaction, tenantId: string, due: DueMarks): Promise<void> {
  const slot = slotOf(tx);
  const marks = due.statement(tenantId, slot);
  if (marks && tx.dialect === 'postgres')
    return tx.defer(`WITH moved AS (${MOVE}) ${marks.sql}`, [tenantId, slot, ...marks.values]);
  await tx.defer(MOVE, [tenantId, slot]);
  if (marks) await tx.defer(marks.sql, marks.values);
}

const MOVE =
  'INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, ?, 1) ON CONFLICT (tenant_id, slot) DO UPDATE SET version = data_versions.version + 1';

const VERSION = 'SELECT sum(version) AS version FROM data_versions WHERE tenant_id = ?';

export async function dataVersion(tx: Transaction, tenantId: string): Promise<number> {
  return known.get(tx) ?? versionIn(await tx.get(VERSION, [tenantId]));
}

/** The version of a snapshot, of one tenant: it is read once, also for those who ask while it is read. */
export function beginVersion(tx: Transaction, tenantId: string): Promise<number> {
  const version = dataVersion(tx, tenantId);
  known.set(tx, version);
  return version;
}

const known = new WeakMap<Transaction, Promise<number>>();

/** The version of what is committed, without a transaction. */
export const presentVersion = async (
  database: Database,
  scope: Scope & { readonly tenantId: string },
): Promise<number> => versionIn(await database.glance(scope, VERSION));

const versionIn = (row: Row | undefined): number => Number(row?.['version'] ?? 0);
