import type { Migration } from '../../../base/database/migrator.js';

/** Subject companies that are being removed: until when nothing is entered for them, by the removal that closed them. */
export const closedSubjects: Migration = {
  id: '0014-closed-subjects',
  statements: (t) => [
    `CREATE TABLE closed_subjects (tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, subject_id ${t.id} NOT NULL, ends_at ${t.big} NOT NULL, PRIMARY KEY (tenant_id, id))`,
    'CREATE INDEX closed_subjects_by_subject ON closed_subjects (tenant_id, subject_id)',
    ...(t.dialect === 'postgres'
      ? [
          'ALTER TABLE closed_subjects ENABLE ROW LEVEL SECURITY',
          'ALTER TABLE closed_subjects FORCE ROW LEVEL SECURITY',
          "CREATE POLICY closed_subjects_of_tenant ON closed_subjects USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)",
        ]
      : []),
  ],
};
