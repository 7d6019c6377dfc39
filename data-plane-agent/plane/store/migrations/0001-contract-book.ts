import type { ColumnTypes, Migration } from '../../../base/database/migrator.js';

/** Contracts with their lines, receipts, terms and notes; lifecycle configuration; file records; audit, outbox and idempotency. */
export const contractBook: Migration = {
  id: '0001-contract-book',
  statements: (t) => [
    `CREATE TABLE contracts (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL,
      archive_code ${t.text} NOT NULL, archive_key ${t.text} NOT NULL, contract_no ${t.text} NOT NULL, contract_key ${t.text} NOT NULL, project_name ${t.text} NOT NULL,
      type ${t.text} NOT NULL, type_code ${t.text}, subject_id ${t.id} NOT NULL, party_a ${t.text} NOT NULL, party_b ${t.text} NOT NULL,
      equipment_name ${t.text} NOT NULL, equipment_model ${t.text} NOT NULL, quantity ${t.int} NOT NULL, unit_price ${t.text} NOT NULL,
      total_minor ${t.big} NOT NULL, computed_minor ${t.big} NOT NULL, currency_code ${t.text} NOT NULL, payment_method ${t.text} NOT NULL,
      payee_account ${t.text}, payee_bank ${t.text}, deposit_minor ${t.big}, periodic_rent_minor ${t.big}, payment_cycle ${t.text},
      sign_date ${t.text}, start_date ${t.text} NOT NULL, end_date ${t.text} NOT NULL, invoice_points ${t.int}, contract_attachment ${t.id},
      status ${t.text} NOT NULL, status_code ${t.text}, owner_id ${t.id} NOT NULL, owner_superior_id ${t.id}, remark ${t.text}, dynamic_fields ${t.text} NOT NULL,
      lifecycle_template_id ${t.id} NOT NULL, stage_code ${t.text} NOT NULL, stage_category ${t.text} NOT NULL, stage_name ${t.text} NOT NULL, allowed_roles ${t.text} NOT NULL, locked ${t.int} NOT NULL,
      payment_status ${t.text} NOT NULL, receivable_minor ${t.big} NOT NULL, received_minor ${t.big} NOT NULL, outstanding_minor ${t.big} NOT NULL, overpaid_minor ${t.big} NOT NULL,
      invoiced_minor ${t.big} NOT NULL, uninvoiced_minor ${t.big} NOT NULL, next_due_date ${t.text}, other_currency_lines ${t.int} NOT NULL,
      total_amount ${t.real} NOT NULL, outstanding_amount ${t.real} NOT NULL,
      created_at ${t.big} NOT NULL, created_by ${t.id}, updated_at ${t.big} NOT NULL, updated_by ${t.id}, deleted_at ${t.big}, version ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    'CREATE UNIQUE INDEX contracts_contract_no ON contracts (tenant_id, contract_key) WHERE deleted_at IS NULL',
    'CREATE UNIQUE INDEX contracts_archive_code ON contracts (tenant_id, archive_key) WHERE deleted_at IS NULL',
    ...['created_at', 'updated_at', 'contract_no', 'archive_code', 'project_name', 'start_date', 'end_date', 'sign_date', 'total_amount', 'outstanding_amount', 'next_due_date'].map(
      (column) => `CREATE INDEX contracts_by_${column} ON contracts (tenant_id, ${column}, id${also(t, 'deleted_at')}) WHERE deleted_at IS NULL`,
    ),
    // All that the list filters by, so that a filtered list is walked, and a total counted, without a look at the rows.
    `CREATE INDEX contracts_filtered ON contracts
      (tenant_id, created_at, id, type, status, payment_status, stage_category, stage_code, type_code, status_code, next_due_date, subject_id, owner_id, owner_superior_id${also(t, 'deleted_at')}) WHERE deleted_at IS NULL`,
    `CREATE INDEX contracts_by_owner ON contracts (tenant_id, owner_id, created_at, id${also(t, 'deleted_at')}) WHERE deleted_at IS NULL`,
    `CREATE INDEX contracts_by_superior ON contracts (tenant_id, owner_superior_id, created_at, id${also(t, 'deleted_at')}) WHERE deleted_at IS NULL`,
    `CREATE INDEX contracts_by_subject ON contracts (tenant_id, subject_id, created_at, id${also(t, 'deleted_at')}) WHERE deleted_at IS NULL`,
    ...(t.dialect === 'postgres'
      ? [
          `CREATE TABLE contract_texts (
            tenant_id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, text ${t.text} NOT NULL,
            PRIMARY KEY (tenant_id, contract_id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
          `CREATE TABLE contract_grams (
            tenant_id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, grams INTEGER[] NOT NULL,
            PRIMARY KEY (tenant_id, contract_id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contract_texts (tenant_id, contract_id))`,
          'CREATE INDEX contract_grams_by_gram ON contract_grams USING gin (grams) WITH (gin_pending_list_limit = 256)',
          ...hashesReadable('contract_grams'),
        ]
      : [
          `CREATE TABLE contract_texts (
            tenant_id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, text ${t.text} NOT NULL, doc INTEGER NOT NULL,
            PRIMARY KEY (tenant_id, contract_id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id)) WITHOUT ROWID`,
          'CREATE INDEX contract_texts_by_doc ON contract_texts (doc)',
          "CREATE VIRTUAL TABLE contract_search USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1')",
        ]),

    `CREATE TABLE payment_lines (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, position ${t.int} NOT NULL,
      period ${t.text} NOT NULL, due_date ${t.text} NOT NULL, amount_minor ${t.big} NOT NULL, currency_code ${t.text} NOT NULL,
      received_minor ${t.big} NOT NULL, outstanding_minor ${t.big} NOT NULL, received_date ${t.text}, method ${t.text}, payer_name ${t.text}, receipt_account ${t.text}, bank_serial_no ${t.text},
      reconciliation_status ${t.text} NOT NULL, reconciliation_note ${t.text}, proof ${t.id},
      invoice_minor ${t.big}, invoice_date ${t.text}, invoice_no ${t.text}, invoice_attachment ${t.id}, invoiced_minor ${t.big} NOT NULL, uninvoiced_minor ${t.big} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, deleted_at ${t.big},
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE INDEX lines_by_contract ON payment_lines (tenant_id, contract_id, due_date, id)',
    `CREATE INDEX lines_open ON payment_lines (tenant_id, due_date, id${also(t, 'outstanding_minor, deleted_at')}) WHERE deleted_at IS NULL AND outstanding_minor > 0`,
    `CREATE INDEX lines_by_due_date ON payment_lines (tenant_id, due_date, id${also(t, 'deleted_at')}) WHERE deleted_at IS NULL`,
    `CREATE INDEX lines_to_reconcile ON payment_lines (tenant_id, received_date, id${also(t, 'received_minor, reconciliation_status, deleted_at')}) WHERE deleted_at IS NULL AND received_minor > 0 AND reconciliation_status <> 'matched'`,
    `CREATE INDEX lines_to_invoice ON payment_lines (tenant_id, due_date, id${also(t, 'uninvoiced_minor, deleted_at')}) WHERE deleted_at IS NULL AND uninvoiced_minor > 0`,
    'CREATE INDEX lines_by_bank_serial ON payment_lines (tenant_id, bank_serial_no, id) WHERE bank_serial_no IS NOT NULL',

    `CREATE TABLE receipts (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, line_id ${t.id} NOT NULL,
      delta_minor ${t.big} NOT NULL, total_minor ${t.big} NOT NULL, currency_code ${t.text} NOT NULL, received_date ${t.text}, method ${t.text}, payer_name ${t.text}, receipt_account ${t.text}, bank_serial_no ${t.text}, proof_file_id ${t.id},
      actor_id ${t.id}, actor_name ${t.text} NOT NULL, created_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, line_id) REFERENCES payment_lines (tenant_id, id))`,
    'CREATE INDEX receipts_by_line ON receipts (tenant_id, line_id, id)',

    `CREATE TABLE contract_terms (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, position ${t.int} NOT NULL, kind ${t.text} NOT NULL, title ${t.text} NOT NULL, date ${t.text}, note ${t.text} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE INDEX terms_by_contract ON contract_terms (tenant_id, contract_id, position, id)',
    `CREATE TABLE contract_notes (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, position ${t.int} NOT NULL, label ${t.text} NOT NULL, value ${t.text} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE INDEX notes_by_contract ON contract_notes (tenant_id, contract_id, position, id)',

    `CREATE TABLE lifecycle_templates (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, code ${t.text} NOT NULL, name ${t.text} NOT NULL, description ${t.text}, is_default ${t.int} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, code))`,
    `CREATE TABLE lifecycle_stages (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, template_id ${t.id} NOT NULL, code ${t.text} NOT NULL, name ${t.text} NOT NULL, category ${t.text} NOT NULL, position ${t.int} NOT NULL,
      is_terminal ${t.int} NOT NULL, locks_core_fields ${t.int} NOT NULL, completion_rules ${t.text} NOT NULL, allowed_role_codes ${t.text} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, template_id, code),
      FOREIGN KEY (tenant_id, template_id) REFERENCES lifecycle_templates (tenant_id, id))`,
    `CREATE TABLE lifecycle_transitions (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, template_id ${t.id} NOT NULL, code ${t.text} NOT NULL, name ${t.text} NOT NULL, from_stage_code ${t.text} NOT NULL, to_stage_code ${t.text} NOT NULL,
      required_control ${t.text} NOT NULL, conditions ${t.text} NOT NULL, effects ${t.text} NOT NULL, position ${t.int} NOT NULL, enabled ${t.int} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, template_id, code),
      FOREIGN KEY (tenant_id, template_id) REFERENCES lifecycle_templates (tenant_id, id))`,
    `CREATE TABLE contract_types (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, code ${t.text} NOT NULL, name ${t.text} NOT NULL, category ${t.text} NOT NULL, description ${t.text}, enabled ${t.int} NOT NULL, position ${t.int} NOT NULL,
      field_schema ${t.text} NOT NULL, default_rules ${t.text} NOT NULL, default_template_id ${t.id},
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, code))`,
    `CREATE TABLE workflow_events (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, kind ${t.text} NOT NULL, from_stage_code ${t.text}, to_stage_code ${t.text}, transition_code ${t.text}, locked ${t.int} NOT NULL, note ${t.text},
      actor_id ${t.id}, actor_name ${t.text} NOT NULL, actor_role ${t.text}, source ${t.text} NOT NULL, created_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE INDEX workflow_events_by_contract ON workflow_events (tenant_id, contract_id, id)',

    `CREATE TABLE files (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, kind ${t.text} NOT NULL, file_name ${t.text} NOT NULL, subject_id ${t.id}, contract_id ${t.id}, payment_id ${t.id}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,

    `CREATE TABLE audit_log (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, at ${t.big} NOT NULL, actor_kind ${t.text} NOT NULL, actor_id ${t.id}, actor_name ${t.text} NOT NULL, ip ${t.text}, request_id ${t.text} NOT NULL,
      action ${t.text} NOT NULL, record_kind ${t.text} NOT NULL, record_id ${t.id} NOT NULL, changes ${t.text} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    'CREATE INDEX audit_by_record ON audit_log (tenant_id, record_id, id)',
    `CREATE TABLE outbox (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, topic ${t.text} NOT NULL, reference ${t.text} NOT NULL, created_at ${t.big} NOT NULL, due_at ${t.big} NOT NULL, attempts ${t.int} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    'CREATE INDEX outbox_due ON outbox (tenant_id, due_at, id)',
    `CREATE TABLE idempotency_records (
      tenant_id ${t.id} NOT NULL, key ${t.text} NOT NULL, operation ${t.text} NOT NULL, request_hash ${t.text} NOT NULL, answer ${t.text} NOT NULL, expires_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, key))`,
    'CREATE INDEX idempotency_by_expiry ON idempotency_records (tenant_id, expires_at)',
    `CREATE TABLE data_versions (tenant_id ${t.id} NOT NULL, slot ${t.int} NOT NULL, version ${t.big} NOT NULL, PRIMARY KEY (tenant_id, slot))`,

    ...(t.dialect === 'postgres' ? TENANT_TABLES.flatMap(forceTenantRows) : []),
  ],
};

/** SQLite looks at the row for what a partial index's own condition says, unless the index has the columns too. */
const also = (t: ColumnTypes, columns: string): string => (t.dialect === 'sqlite' ? `, ${columns}` : '');

const TENANT_TABLES = [
  'contracts', 'contract_texts', 'payment_lines', 'receipts', 'contract_terms', 'contract_notes', 'lifecycle_templates', 'lifecycle_stages', 'lifecycle_transitions', 'contract_types', 'workflow_events',
  'files', 'audit_log', 'outbox', 'idempotency_records', 'data_versions',
];

// Under a row policy PostgreSQL uses no index but with operators that are marked leakproof, and those of arrays are not. So the policy of this
// table, which holds nothing but salted hashes, binds writing only; what they lead to is read under the policy of the texts.
const hashesReadable = (table: string) => [...forceTenantRows(table), `CREATE POLICY ${table}_readable ON ${table} FOR SELECT USING (true)`];

// The setting is empty, not null, on a connection that has carried a tenant before; a bare cast of it would fail.
const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
