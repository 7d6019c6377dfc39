import type { Migration } from '../../../base/database/migrator.js';

/**
 * The state of a tenant's data while it is moved from or to another data plane, and after it was. A tenant without a row
 * was never moved.
 */
export const dataMoves: Migration = {
  id: '0020-data-moves',
  statements: (t) => [
    `CREATE TABLE data_moves (tenant_id ${t.id} NOT NULL, move_id ${t.id} NOT NULL, state ${t.text} NOT NULL, changed_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id))`,
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE data_moves ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE data_moves FORCE ROW LEVEL SECURITY',
          "CREATE POLICY data_moves_of_tenant ON data_moves USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
