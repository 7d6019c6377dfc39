import type { SealedColumn } from '../../base/database/sealed-columns.js';

/** The columns of the tenant database that are encrypted with the key ring. A test checks that the list is complete. */
export const TENANT_SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'idempotency_records', column: 'answer', place: ['tenant_id', 'key'] },
  { table: 'running_import_parts', column: 'content', place: ['tenant_id', 'import_id', 'kind', 'position'] },
  { table: 'audit_heads', column: 'seal', place: ['tenant_id'] },
];
