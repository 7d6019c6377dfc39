import type { Migration } from '../../../base/database/migrator.js';

/** Definitions of custom fields, the revision under which a tenant's are cached, and the forms that values had before a change of type. */
export const dynamicFields: Migration = {
  id: '0006-dynamic-fields',
  statements: (t) => [
    `CREATE TABLE dynamic_fields (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, code ${t.text} NOT NULL, name ${t.text} NOT NULL, name_key ${t.text} NOT NULL, description ${t.text},
      type ${t.text} NOT NULL, required ${t.int} NOT NULL, options ${t.text} NOT NULL, default_value ${t.text} NOT NULL, settings ${t.text} NOT NULL, type_codes ${t.text} NOT NULL,
      visible_roles ${t.text} NOT NULL, editable_roles ${t.text} NOT NULL, position ${t.int} NOT NULL, section ${t.text}, archived ${t.int} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL, version ${t.int} NOT NULL,
      PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, code))`,
    'CREATE UNIQUE INDEX dynamic_fields_name ON dynamic_fields (tenant_id, name_key) WHERE archived = 0',
    `CREATE TABLE dynamic_field_sets (tenant_id ${t.id} NOT NULL, revision ${t.id} NOT NULL, PRIMARY KEY (tenant_id))`,
    `CREATE TABLE dynamic_field_forms (
      tenant_id ${t.id} NOT NULL, field_id ${t.id} NOT NULL, contract_id ${t.id} NOT NULL, forms ${t.text} NOT NULL, became ${t.text} NOT NULL, expires_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, field_id, contract_id),
      FOREIGN KEY (tenant_id, field_id) REFERENCES dynamic_fields (tenant_id, id), FOREIGN KEY (tenant_id, contract_id) REFERENCES contracts (tenant_id, id))`,
    'CREATE INDEX dynamic_field_forms_by_expiry ON dynamic_field_forms (tenant_id, expires_at)',
    // Contracts with values, for walking over them; SQLite looks at the row for a partial index's condition unless the index has the column too.
    `CREATE INDEX contracts_with_values ON contracts (tenant_id, id${t.dialect === 'sqlite' ? ', dynamic_fields' : ''}) WHERE dynamic_fields <> '{}'`,
    ...(t.dialect === 'postgres' ? ['dynamic_fields', 'dynamic_field_sets', 'dynamic_field_forms'].flatMap(forceTenantRows) : []),
  ],
};

const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
