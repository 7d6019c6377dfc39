import type { Migration } from '../../../base/database/migrator.js';

/**
 * One index instead of three by due date. Due dates of one contract are spread over all days, so that each new line changed
 * another page of each.
 */
export const linesByState: Migration = {
  id: '0024-lines-by-state',
  statements: (t) => [
    // For what is read of a page besides, PostgreSQL and SQLite want the columns of the expression and of the condition as well.
    t.dialect === 'postgres'
      ? `CREATE INDEX lines_by_state ON payment_lines (tenant_id, (${STATE}), due_date, id) INCLUDE (outstanding_minor, uninvoiced_minor) WHERE deleted_at IS NULL`
      : `CREATE INDEX lines_by_state ON payment_lines (tenant_id, (${STATE}), due_date, id, outstanding_minor, uninvoiced_minor, deleted_at) WHERE deleted_at IS NULL`,
    'DROP INDEX lines_open',
    'DROP INDEX lines_to_invoice',
    'DROP INDEX lines_by_due_date',
  ],
};

const STATE =
  'CASE WHEN outstanding_minor > 0 THEN CASE WHEN uninvoiced_minor > 0 THEN 3 ELSE 2 END ELSE CASE WHEN uninvoiced_minor > 0 THEN 1 ELSE 0 END END';
