import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** When each member last lost admin (edit), and which sessions a code by mail has opened (of those from before: none that is known). */
export const takeover: Migration = {
  id: '0012-takeover',
  statements: (t) => [`ALTER TABLE members ADD COLUMN admin_lost_at ${t.big}`, `ALTER TABLE sessions ADD COLUMN by_email_code ${t.int} NOT NULL DEFAULT 0`],
};
