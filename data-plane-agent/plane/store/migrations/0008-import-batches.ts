import type { Migration } from '../../../base/database/migrator.js';

/** The reports of imports and the rows that were not entered, for a while. */
export const importBatches: Migration = {
  id: '0008-import-batches',
  statements: (t) => [
    `CREATE TABLE import_batches (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, report ${t.text} NOT NULL, rejected ${t.text} NOT NULL, created_by ${t.id}, created_at ${t.big} NOT NULL, expires_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    'CREATE INDEX import_batches_by_expiry ON import_batches (tenant_id, expires_at)',
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE import_batches ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE import_batches FORCE ROW LEVEL SECURITY',
          "CREATE POLICY import_batches_of_tenant ON import_batches USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
