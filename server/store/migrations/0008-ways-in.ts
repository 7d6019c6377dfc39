import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** By which way in each session was opened (of those from before nobody knows), and until when no code by mail stands in for a member's authenticator. */
export const waysIn: Migration = {
  id: '0008-ways-in',
  statements: (t) => [`ALTER TABLE sessions ADD COLUMN way ${t.text}`, `ALTER TABLE login_codes ADD COLUMN held_until ${t.big} NOT NULL DEFAULT 0`],
};
