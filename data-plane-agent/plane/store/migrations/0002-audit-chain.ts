import type { Migration } from '../../../base/database/migrator.js';

/** Audit rows are chained after they were written; count and head hash stand beside them under a seal. */
export const auditChain: Migration = {
  id: '0002-audit-chain',
  statements: (t) => [
    `ALTER TABLE audit_log ADD COLUMN position ${t.big}`,
    `ALTER TABLE audit_log ADD COLUMN hash ${t.text}`,
    'CREATE UNIQUE INDEX audit_chained ON audit_log (tenant_id, position) WHERE position IS NOT NULL',
    'CREATE INDEX audit_unchained ON audit_log (tenant_id, id) WHERE position IS NULL',
    `CREATE TABLE audit_heads (tenant_id ${t.id} NOT NULL, position ${t.big} NOT NULL, hash ${t.text} NOT NULL, seal ${t.text} NOT NULL, PRIMARY KEY (tenant_id))`,
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE audit_heads ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE audit_heads FORCE ROW LEVEL SECURITY',
          "CREATE POLICY audit_heads_of_tenant ON audit_heads USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
