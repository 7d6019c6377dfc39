import type { Migration } from '../../../base/database/migrator.js';

/** Records of the control plane that are being removed, subject companies and channels: until when nothing here may name them, by the removal that closed them. */
export const closedRecords: Migration = {
  id: '0014-closed-records',
  statements: (t) => [
    `CREATE TABLE closed_records (tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, record_id ${t.id} NOT NULL, ends_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, id))`,
    'CREATE INDEX closed_records_by_record ON closed_records (tenant_id, record_id)',
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE closed_records ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE closed_records FORCE ROW LEVEL SECURITY',
          "CREATE POLICY closed_records_of_tenant ON closed_records USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
