import type { Database } from '../../data-plane-agent/base/database/database.js';

const DAY_MS = 24 * 3_600_000;

/** Each statement deletes rows that ended before the given instant. */
const EXPIRED: readonly { readonly sql: string; readonly keepMs: number }[] = [
  { sql: 'DELETE FROM password_resets WHERE expires_at <= ?', keepMs: 0 },
  { sql: 'DELETE FROM passkey_flows WHERE expires_at <= ?', keepMs: 0 },
  { sql: 'DELETE FROM calendar_flows WHERE expires_at <= ?', keepMs: 0 },
  // Expired invitations can be sent again for a while.
  { sql: 'DELETE FROM invitations WHERE expires_at <= ?', keepMs: 60 * DAY_MS },
  { sql: "DELETE FROM mail_outbox WHERE status = 'void' AND created_at <= ?", keepMs: 3_600_000 },
  { sql: "DELETE FROM mail_outbox WHERE status <> 'queued' AND created_at <= ?", keepMs: 90 * DAY_MS },
  { sql: 'DELETE FROM idempotency_records WHERE expires_at <= ?', keepMs: 0 },
  { sql: 'DELETE FROM link_tokens_used WHERE expires_at <= ?', keepMs: 0 },
  // Its refresh tokens have expired with it; kept for a while for investigations.
  { sql: 'DELETE FROM sessions WHERE idle_expires_at <= ?', keepMs: 30 * DAY_MS },
];

/**
 * Deletes expired rows from the platform database, one statement per transaction to keep locks short. Returns the
 * number of rows.
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
