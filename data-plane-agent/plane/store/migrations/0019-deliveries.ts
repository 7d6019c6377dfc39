import type { Migration } from '../../../base/database/migrator.js';

/**
 * Messages of the outbox wait in lanes, one for each channel, so that a slow receiver delays only its own messages. A
 * reminder names the message that carries it, and, after a handover, the member that it is sent to instead of the owner.
 */
export const deliveries: Migration = {
  id: '0019-deliveries',
  statements: (t) => [
    `ALTER TABLE outbox ADD COLUMN lane ${t.text} NOT NULL DEFAULT ''`,
    "CREATE INDEX outbox_by_lane ON outbox (tenant_id, lane, due_at, id) WHERE state = 'queued'",
    `ALTER TABLE reminders ADD COLUMN message_id ${t.id}`,
    `ALTER TABLE reminders ADD COLUMN recipient_id ${t.id}`,
    'CREATE INDEX reminders_by_message ON reminders (tenant_id, message_id) WHERE message_id IS NOT NULL',
  ],
};
