import type { Transaction } from '../../base/database/database.js';
import type { DueMarks } from './due-work.js';
import { slotOf } from './slots.js';

/**
 * Increments the tenant's data version within the transaction of a write, so that what is cached under it stays exact
 * on every replica, and writes the due marks: on PostgreSQL in one statement, which saves a round trip.
 */
export async function moveDataVersion(tx: Transaction, tenantId: string, due: DueMarks): Promise<void> {
  const slot = slotOf(tx);
  const marks = due.statement(tenantId, slot);
  if (marks && tx.dialect === 'postgres')
    return void (await tx.run(`WITH moved AS (${MOVE}) ${marks.sql}`, [tenantId, slot, ...marks.values]));
  await tx.run(MOVE, [tenantId, slot]);
  if (marks) await tx.run(marks.sql, marks.values);
}

const MOVE =
  'INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, ?, 1) ON CONFLICT (tenant_id, slot) DO UPDATE SET version = data_versions.version + 1';

export async function dataVersion(tx: Transaction, tenantId: string): Promise<number> {
  const row = await tx.get('SELECT sum(version) AS version FROM data_versions WHERE tenant_id = ?', [tenantId]);
  return Number(row?.['version'] ?? 0);
}
