import type { Migration } from '../../../base/database/migrator.js';

/** Runs of extraction, how each field stands after its last review, and every review as it was sent. */
export const extraction: Migration = {
  id: '0009-extraction',
  statements: (t) => [
    `CREATE TABLE extraction_runs (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, contract_id ${t.id}, status ${t.text} NOT NULL, source_kind ${t.text} NOT NULL, file_id ${t.id}, file_name ${t.text},
      engine_name ${t.text} NOT NULL, engine_version ${t.text} NOT NULL, overall_confidence ${t.int} NOT NULL, fields ${t.text} NOT NULL, missing_fields ${t.text} NOT NULL, warnings ${t.text} NOT NULL,
      created_by ${t.id}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE INDEX extraction_runs_by_contract ON extraction_runs (tenant_id, contract_id) WHERE contract_id IS NOT NULL',
    'CREATE INDEX extraction_runs_by_age ON extraction_runs (tenant_id, updated_at, status)',
    `CREATE TABLE extraction_field_reviews (
      tenant_id ${t.id} NOT NULL, run_id ${t.id} NOT NULL, field_key ${t.text} NOT NULL, status ${t.text} NOT NULL, override_value ${t.text} NOT NULL, reviewed_by ${t.id}, reviewed_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, run_id, field_key), FOREIGN KEY (tenant_id, run_id) REFERENCES extraction_runs (tenant_id, id))`,
    `CREATE TABLE extraction_reviews (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, run_id ${t.id} NOT NULL, fields ${t.text} NOT NULL, metadata ${t.text}, applied ${t.int} NOT NULL, actor_id ${t.id}, actor_name ${t.text} NOT NULL, created_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, run_id) REFERENCES extraction_runs (tenant_id, id))`,
    'CREATE INDEX extraction_reviews_by_run ON extraction_reviews (tenant_id, run_id, id)',
    ...(t.dialect === 'postgres' ? ['extraction_runs', 'extraction_field_reviews', 'extraction_reviews'].flatMap(forceTenantRows) : []),
  ],
};

const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
