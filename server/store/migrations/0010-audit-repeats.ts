import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** How often an event came again within its hour: what strangers can cause without end is counted here, and is one row of the audit when the hour is over. */
export const auditRepeats: Migration = {
  id: '0010-audit-repeats',
  statements: (t) => [
    `CREATE TABLE audit_repeats (
      key ${t.text} NOT NULL PRIMARY KEY, family ${t.text} NOT NULL, ends_at ${t.big} NOT NULL, times ${t.big} NOT NULL, since ${t.big} NOT NULL, until ${t.big} NOT NULL,
      request_id ${t.text} NOT NULL, event ${t.text} NOT NULL)`,
    'CREATE INDEX audit_repeats_by_family ON audit_repeats (family)',
    'CREATE INDEX audit_repeats_by_end ON audit_repeats (ends_at)',
  ],
};
