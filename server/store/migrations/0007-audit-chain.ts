import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Audit rows are chained after they were written; count and head hash of each tenant's chain, and of the platform's own, stand beside them under a seal. */
export const auditChain: Migration = {
  id: '0007-audit-chain',
  statements: (t) => [
    `ALTER TABLE audit_log ADD COLUMN position ${t.big}`,
    `ALTER TABLE audit_log ADD COLUMN hash ${t.text}`,
    'CREATE UNIQUE INDEX audit_chained ON audit_log (tenant_id, position) WHERE position IS NOT NULL',
    'CREATE INDEX audit_unchained ON audit_log (tenant_id, id) WHERE position IS NULL',
    'CREATE INDEX audit_by_record ON audit_log (tenant_id, record_id, id)',
    `CREATE TABLE audit_heads (chain ${t.text} NOT NULL PRIMARY KEY, position ${t.big} NOT NULL, hash ${t.text} NOT NULL, seal ${t.text} NOT NULL)`,
  ],
};
