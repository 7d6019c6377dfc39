import type { Migration } from '../../../base/database/migrator.js';

/**
 * Holds on payment lines, and every reminder that was decided on: at most one for a line, its due date, and a step with its
 * occurrence. Reminders sent by hand are counted by the occurrence.
 */
export const collections: Migration = {
  id: '0018-collections',
  statements: (t) => [
    `CREATE TABLE line_holds (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, kind ${t.text} NOT NULL, until_day ${t.text}, note ${t.text}, created_by ${t.id}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, id) REFERENCES payment_lines (tenant_id, id))`,
    `CREATE TABLE reminders (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, payment_id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, due_date ${t.text} NOT NULL, step ${t.text} NOT NULL, occurrence ${t.int} NOT NULL,
      status ${t.text} NOT NULL, reason ${t.text}, local_date ${t.text} NOT NULL, run_id ${t.id}, channel_id ${t.id}, channel_kind ${t.text}, recipients ${t.text}, subject ${t.text},
      attempts ${t.int} NOT NULL, last_error ${t.text}, next_attempt_at ${t.big}, created_by ${t.id}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, sent_at ${t.big},
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, payment_id) REFERENCES payment_lines (tenant_id, id))`,
    'CREATE UNIQUE INDEX reminders_once ON reminders (tenant_id, payment_id, due_date, step, occurrence)',
    'CREATE INDEX reminders_by_contract ON reminders (tenant_id, contract_id, id)',
    'CREATE INDEX reminders_by_run ON reminders (tenant_id, run_id, id) WHERE run_id IS NOT NULL',
    ...(t.dialect === 'postgres' ? ['line_holds', 'reminders'].flatMap(forceTenantRows) : []),
  ],
};

const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
