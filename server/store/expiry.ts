import type { Database } from '../../data-plane-agent/base/database/database.js';

const DAY_MS = 24 * 3_600_000;

/** What is of no use any more: each statement removes what ended before the instant that it is given. */
const EXPIRED: readonly { readonly sql: string; readonly keepMs: number }[] = [
  { sql: 'DELETE FROM password_resets WHERE expires_at <= ?', keepMs: 0 },
  { sql: 'DELETE FROM passkey_flows WHERE expires_at <= ?', keepMs: 0 },
  // An admin may send one that is over again; not for ever.
  { sql: 'DELETE FROM invitations WHERE expires_at <= ?', keepMs: 60 * DAY_MS },
  { sql: "DELETE FROM mail_outbox WHERE status = 'void' AND created_at <= ?", keepMs: 3_600_000 },
  { sql: "DELETE FROM mail_outbox WHERE status <> 'queued' AND created_at <= ?", keepMs: 90 * DAY_MS },
  { sql: 'DELETE FROM idempotency_records WHERE expires_at <= ?', keepMs: 0 },
  // Its refresh tokens have ended with it; kept a while for whoever looks into what happened.
  { sql: 'DELETE FROM sessions WHERE idle_expires_at <= ?', keepMs: 30 * DAY_MS },
];

/**
 * Removes what is over from the platform database, a statement at a time, so that nobody waits long. Answers how many
 * rows went.
 */
export async function removeExpired(
  database: Database,
  { at, signal }: { at: number; signal?: AbortSignal },
): Promise<number> {
  let removed = 0;
  for (const { sql, keepMs } of EXPIRED) {
    if (signal?.aborted) break;
    removed += await database.write({ tenantId: null }, (tx) => tx.run(sql, [at - keepMs]));
  }
  return removed;
}
