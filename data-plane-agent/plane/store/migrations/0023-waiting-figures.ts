import type { Migration } from '../../../base/database/migrator.js';

/**
 * What writes add to the rollups, until a later write adds what many of them have left. Readers add it to what they
 * read.
 */
export const waitingFigures: Migration = {
  id: '0023-waiting-figures',
  statements: (t) => [
    `CREATE TABLE waiting_figures (tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, changes ${t.text} NOT NULL, PRIMARY KEY (tenant_id, id))`,
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE waiting_figures ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE waiting_figures FORCE ROW LEVEL SECURITY',
          "CREATE POLICY waiting_figures_of_tenant ON waiting_figures USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
