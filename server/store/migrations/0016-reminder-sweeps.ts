import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/**
 * When each organisation's automatic reminders are looked at next, and the last day on which they were sent. Existing
 * organisations are looked at as soon as possible.
 */
export const reminderSweeps: Migration = {
  id: '0016-reminder-sweeps',
  statements: (t) => [
    `CREATE TABLE reminder_sweeps (
      tenant_id ${t.id} NOT NULL PRIMARY KEY REFERENCES tenants (id), next_at ${t.big} NOT NULL, last_date ${t.text}, last_run_id ${t.id}, last_finished_at ${t.big}, last_error ${t.text}, last_error_at ${t.big})`,
    'CREATE INDEX reminder_sweeps_by_time ON reminder_sweeps (next_at, tenant_id)',
    'INSERT INTO reminder_sweeps (tenant_id, next_at) SELECT id, 0 FROM tenants',
  ],
};
