import type { Migration } from '../../../base/database/migrator.js';

/**
 * What the latest writes have added to the rollups, by data version, so that figures that were read before are brought up to
 * date by it. `changes` is null if it was too much. The previous release adds no rows; figures are then read anew.
 */
export const rollupChanges: Migration = {
  id: '0021-rollup-changes',
  statements: (t) => [
    `CREATE TABLE rollup_changes (tenant_id ${t.id} NOT NULL, slot ${t.int} NOT NULL, version ${t.big} NOT NULL, changes ${t.text}, PRIMARY KEY (tenant_id, slot, version))${t.dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE rollup_changes ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE rollup_changes FORCE ROW LEVEL SECURITY',
          "CREATE POLICY rollup_changes_of_tenant ON rollup_changes USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
