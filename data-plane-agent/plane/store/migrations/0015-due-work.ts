import type { Migration } from '../../../base/database/migrator.js';

/**
 * Which tenants have work due, and when. Whoever looks for work reads it without a tenant, and on PostgreSQL sees the rows up to the instant that it
 * names, of all tenants; what writes them is bound to its tenant, as everywhere. What is there already is due at once: the first round finds out
 * what of it there is to do. Messages of the outbox are leased, settled, given up on or expired; nobody has read those from before, and they are
 * not sent any more.
 */
export const dueWork: Migration = {
  id: '0015-due-work',
  statements: (t) => [
    `CREATE TABLE due_work (tenant_id ${t.id} NOT NULL, kind ${t.text} NOT NULL, slot ${t.int} NOT NULL, due_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, kind, slot))`,
    'CREATE INDEX due_work_by_time ON due_work (due_at, kind, tenant_id)',
    ...(t.dialect === 'postgres' ? TENANTS_FROM.map(([table]) => `ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`) : []),
    `INSERT INTO due_work (tenant_id, kind, slot, due_at)
      SELECT tenant_id, kind, 0, 0 FROM (${TENANTS_FROM.map(([table, condition]) => `SELECT tenant_id FROM ${table}${condition}`).join(' UNION ')}) AS tenants
      CROSS JOIN (${KINDS.map((kind) => `SELECT '${kind}' AS kind`).join(' UNION ALL ')}) AS kinds`,
    ...(t.dialect === 'postgres'
      ? [
          ...TENANTS_FROM.map(([table]) => `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`),
          'ALTER TABLE due_work ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE due_work FORCE ROW LEVEL SECURITY',
          "CREATE POLICY due_work_of_tenant ON due_work USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
          "CREATE POLICY due_work_found ON due_work FOR SELECT USING (due_at <= nullif(current_setting('duebook.due_until', true), '')::bigint)",
        ]
      : []),

    // The default is for the rows that are there: every other one says its state.
    `ALTER TABLE outbox ADD COLUMN state ${t.text} NOT NULL DEFAULT 'expired'`,
    `ALTER TABLE outbox ADD COLUMN leased_until ${t.big} NOT NULL DEFAULT 0`,
    `ALTER TABLE outbox ADD COLUMN error ${t.text}`,
    `ALTER TABLE outbox ADD COLUMN expires_at ${t.big} NOT NULL DEFAULT 0`,
    'DROP INDEX outbox_due',
    "CREATE INDEX outbox_due ON outbox (tenant_id, due_at, id) WHERE state = 'queued'",
    "CREATE INDEX outbox_expiring ON outbox (tenant_id, expires_at) WHERE state = 'queued'",
    "CREATE INDEX outbox_over ON outbox (tenant_id, created_at) WHERE state <> 'queued'",

    // The file that was looked at longest ago, the newest one, and what was found infected.
    "CREATE INDEX files_by_look ON files (tenant_id, (coalesce(scanned_at, updated_at))) WHERE scan_due_at IS NULL AND size_bytes > 0 AND scan_status IN ('skipped', 'clean', 'error')",
    'CREATE INDEX files_by_age ON files (tenant_id, created_at)',
    "CREATE INDEX files_infected ON files (tenant_id, scanned_at) WHERE scan_status = 'infected' AND object_key <> ''",
  ],
};

const KINDS = ['audit', 'documents', 'expiry', 'file-orphans', 'file-scans', 'file-sweep', 'tasks'];

/** Whoever has written anything is in one of these; the first has few rows of each. */
const TENANTS_FROM = [['data_versions', ''], ['idempotency_records', ''], ['file_uploads', ''], ['audit_log', ' WHERE position IS NULL']] as const;
