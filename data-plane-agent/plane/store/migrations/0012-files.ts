import type { Migration } from '../../../base/database/migrator.js';

/**
 * What is announced and not yet uploaded or confirmed; what is known of a file's bytes; where files are referred to, for whoever asks from the
 * file's side; and which documents wait to be read.
 */
export const files: Migration = {
  id: '0012-files',
  statements: (t) => [
    `CREATE TABLE file_uploads (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, file_name ${t.text} NOT NULL, content_type ${t.text} NOT NULL, size_bytes ${t.big} NOT NULL, kind ${t.text} NOT NULL,
      subject_id ${t.id}, contract_id ${t.id}, payment_id ${t.id}, uploaded_by ${t.id}, created_at ${t.big} NOT NULL, expires_at ${t.big} NOT NULL, claimed_until ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    'CREATE INDEX file_uploads_by_age ON file_uploads (tenant_id, created_at)',
    // Until now nothing could make a file. A row that somebody put there by hand has no bytes, and waits for a scan that never comes.
    ...[
      `content_type ${t.text} NOT NULL DEFAULT ''`, `size_bytes ${t.big} NOT NULL DEFAULT 0`, `sha256 ${t.text} NOT NULL DEFAULT ''`, `object_key ${t.text} NOT NULL DEFAULT ''`, `etag ${t.text} NOT NULL DEFAULT ''`,
      `scan_status ${t.text} NOT NULL DEFAULT 'pending'`, `scanned_at ${t.big}`, `scan_signature ${t.text}`, `scan_error ${t.text}`, `scanned_with ${t.text}`, `scan_tries ${t.int} NOT NULL DEFAULT 0`, `scan_due_at ${t.big}`,
      `uploaded_by ${t.id}`,
    ].map((column) => `ALTER TABLE files ADD COLUMN ${column}`),
    'CREATE INDEX files_to_scan ON files (tenant_id, scan_due_at) WHERE scan_due_at IS NOT NULL',
    'CREATE INDEX files_by_contract ON files (tenant_id, contract_id) WHERE contract_id IS NOT NULL',
    'CREATE INDEX files_by_size ON files (tenant_id, size_bytes)',
    ...[['contracts', 'contract_attachment'], ['payment_lines', 'proof'], ['payment_lines', 'invoice_attachment'], ['receipts', 'proof_file_id'], ['invoices', 'attachment'], ['fulfillment_tasks', 'attachment']].map(
      ([table, column]) => `CREATE INDEX ${table}_by_${column} ON ${table} (tenant_id, ${column}) WHERE ${column} IS NOT NULL`,
    ),
    `ALTER TABLE extraction_runs ADD COLUMN currency_code ${t.text}`,
    `ALTER TABLE extraction_runs ADD COLUMN reading_tries ${t.int} NOT NULL DEFAULT 0`,
    `ALTER TABLE extraction_runs ADD COLUMN reading_due_at ${t.big}`,
    'CREATE INDEX extraction_runs_to_read ON extraction_runs (tenant_id, reading_due_at) WHERE reading_due_at IS NOT NULL',
    ...(t.dialect === 'postgres' ? forceTenantRows('file_uploads') : []),
  ],
};

const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
