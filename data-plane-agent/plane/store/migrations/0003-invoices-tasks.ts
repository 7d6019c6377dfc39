import type { Migration } from '../../../base/database/migrator.js';

/** Invoice records and fulfillment tasks, and what a contract and its lines keep of them. */
export const invoicesTasks: Migration = {
  id: '0003-invoices-tasks',
  statements: (t) => [
    `CREATE TABLE invoices (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, line_id ${t.id}, receipt_id ${t.id}, subject_id ${t.id} NOT NULL,
      invoice_no ${t.text} NOT NULL, invoice_key ${t.text} NOT NULL, amount_minor ${t.big} NOT NULL, currency_code ${t.text} NOT NULL, invoice_date ${t.text}, status ${t.text} NOT NULL,
      attachment ${t.text}, tax_rate ${t.text}, note ${t.text}, from_line ${t.int} NOT NULL, reverses_id ${t.id}, reversed_by_id ${t.id},
      created_at ${t.big} NOT NULL, created_by ${t.id}, updated_at ${t.big} NOT NULL, updated_by ${t.id}, deleted_at ${t.big},
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id),
      FOREIGN KEY (tenant_id, line_id) REFERENCES payment_lines (tenant_id, id),
      FOREIGN KEY (tenant_id, receipt_id) REFERENCES receipts (tenant_id, id))`,
    // A void record gives its number back; a draft holds it already.
    "CREATE UNIQUE INDEX invoices_invoice_no ON invoices (tenant_id, subject_id, invoice_key) WHERE deleted_at IS NULL AND status <> 'void'",
    'CREATE INDEX invoices_by_contract ON invoices (tenant_id, contract_id, line_id, id)',

    `CREATE TABLE fulfillment_tasks (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, code ${t.text} NOT NULL, code_key ${t.text} NOT NULL, title ${t.text} NOT NULL, kind ${t.text},
      status ${t.text} NOT NULL, owner_id ${t.id}, due_date ${t.text}, acceptance_status ${t.text}, attachment ${t.text}, metadata ${t.text},
      started_at ${t.big}, completed_at ${t.big}, accepted_at ${t.big}, accepted_by ${t.id},
      created_at ${t.big} NOT NULL, created_by ${t.id}, updated_at ${t.big} NOT NULL, updated_by ${t.id}, deleted_at ${t.big},
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE UNIQUE INDEX tasks_code ON fulfillment_tasks (tenant_id, contract_id, code_key) WHERE deleted_at IS NULL',
    'CREATE INDEX tasks_by_contract ON fulfillment_tasks (tenant_id, contract_id, id)',
    // Only what can still become overdue, and only what can still change hands.
    "CREATE INDEX tasks_falling_due ON fulfillment_tasks (tenant_id, due_date, contract_id) WHERE deleted_at IS NULL AND due_date IS NOT NULL AND status IN ('pending', 'in_progress')",
    "CREATE INDEX tasks_open_of_owner ON fulfillment_tasks (tenant_id, owner_id, id) WHERE deleted_at IS NULL AND owner_id IS NOT NULL AND status NOT IN ('completed', 'accepted', 'canceled')",

    `ALTER TABLE contracts ADD COLUMN unlinked_invoiced_minor ${t.big} NOT NULL DEFAULT 0`,
    `ALTER TABLE contracts ADD COLUMN tasks_live ${t.int} NOT NULL DEFAULT 0`,
    `ALTER TABLE contracts ADD COLUMN tasks_done ${t.int} NOT NULL DEFAULT 0`,
    `ALTER TABLE contracts ADD COLUMN tasks_in_time_until ${t.text}`,
    `ALTER TABLE payment_lines ADD COLUMN invoice_records ${t.int} NOT NULL DEFAULT 0`,
    `ALTER TABLE payment_lines ADD COLUMN invoices_standing ${t.int} NOT NULL DEFAULT 0`,
    ...(t.dialect === 'postgres' ? ['invoices', 'fulfillment_tasks'].flatMap(forceTenantRows) : []),
  ],
};

const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
