import type { SealedColumn } from '../../base/database/sealed-columns.js';

/** What the tenant database holds under the key ring. A test finds every sealed text in here. */
export const TENANT_SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'idempotency_records', column: 'answer', place: ['tenant_id', 'key'] },
  { table: 'audit_heads', column: 'seal', place: ['tenant_id'] },
];
