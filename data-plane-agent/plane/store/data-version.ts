import type { Transaction } from '../../base/database/database.js';

/**
 * PostgreSQL makes writers of one row wait for each other's commit, so a tenant's counter is spread over a few rows there;
 * SQLite has one writer anyway.
 */
const SLOTS = 32;

/** Moves the tenant's data version within the transaction of a write, so that whatever is cached under it stays exact on every replica. */
export async function moveDataVersion(tx: Transaction, tenantId: string): Promise<void> {
  const slot = tx.dialect === 'sqlite' ? 0 : Math.floor(Math.random() * SLOTS);
  await tx.run('INSERT INTO data_versions (tenant_id, slot, version) VALUES (?, ?, 1) ON CONFLICT (tenant_id, slot) DO UPDATE SET version = data_versions.version + 1', [tenantId, slot]);
}

export async function dataVersion(tx: Transaction, tenantId: string): Promise<number> {
  const row = await tx.get('SELECT sum(version) AS version FROM data_versions WHERE tenant_id = ?', [tenantId]);
  return Number(row?.['version'] ?? 0);
}
