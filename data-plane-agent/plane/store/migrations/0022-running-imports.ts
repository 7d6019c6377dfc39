import type { Migration } from '../../../base/database/migrator.js';

/**
 * Long imports that are being entered, with their input and the outcomes so far, so that another process can finish
 * them. A lease says who is at work. The previous release knows nothing of them, and leaves them to the next start.
 */
export const runningImports: Migration = {
  id: '0022-running-imports',
  statements: (t) => [
    `CREATE TABLE running_imports (tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, state ${t.text} NOT NULL, call ${t.text} NOT NULL, idempotency_key ${t.text}, holder ${t.id} NOT NULL, leased_until ${t.big} NOT NULL, attempts ${t.int} NOT NULL, PRIMARY KEY (tenant_id, id))`,
    'CREATE UNIQUE INDEX running_imports_by_key ON running_imports (tenant_id, idempotency_key)',
    'CREATE INDEX running_imports_by_lease ON running_imports (tenant_id, leased_until)',
    `CREATE TABLE running_import_parts (tenant_id ${t.id} NOT NULL, import_id ${t.id} NOT NULL, kind ${t.text} NOT NULL, position ${t.int} NOT NULL, content ${t.text} NOT NULL, PRIMARY KEY (tenant_id, import_id, kind, position))`,
    ...(t.dialect === 'postgres'
      ? ['running_imports', 'running_import_parts'].flatMap((table) => [
          `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
          `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
          `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
        ])
      : []),
  ],
};
