import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { KEPT_OVER_MS } from '../domain/outbox/messages.js';

/**
 * Tables whose rows are deleted when their `expires_at` is reached, with the key within the tenant and how many rows are
 * deleted at once: some rows take megabytes. A write of such a row marks its end: `due.at('expiry', …)`.
 */
export const ENDING = [
  { table: 'idempotency_records', key: 'key', limit: 500 },
  { table: 'import_batches', key: 'id', limit: 10 },
  { table: 'dynamic_field_forms', key: 'field_id, contract_id', limit: 500 },
] as const;
const MESSAGES_AT_ONCE = 500;

/**
 * Removes rows kept for a limited time: answers to idempotency keys, import reports, former forms of custom values and
 * outbox messages.
 */
export class ExpiryStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  /** Removes one batch of expired rows. Returns how many rows it changed, and whether more may have expired. */
  async remove(now: number): Promise<{ readonly removed: number; readonly more: boolean }> {
    const { tenantId } = this.call;
    let removed = 0;
    let more = false;
    const count = (changed: number, limit: number): void => {
      removed += changed;
      more ||= changed >= limit;
    };
    for (const { table, key, limit } of ENDING) {
      count(
        await this.tx.run(
          `DELETE FROM ${table} WHERE tenant_id = ? AND (${key}) IN (SELECT ${key} FROM ${table} WHERE tenant_id = ? AND expires_at <= ? ORDER BY expires_at LIMIT ?)`,
          [tenantId, tenantId, now, limit],
        ),
        limit,
      );
    }
    // A leased message is not expired before its lease ends. The delivery of reminders ends with the record of each.
    count(
      await this.tx.run(
        "UPDATE outbox SET state = 'expired' WHERE tenant_id = ? AND id IN (SELECT id FROM outbox WHERE tenant_id = ? AND state = 'queued' AND topic <> 'reminder' AND expires_at <= ? AND leased_until <= ? ORDER BY expires_at LIMIT ?)",
        [tenantId, tenantId, now, now, MESSAGES_AT_ONCE],
      ),
      MESSAGES_AT_ONCE,
    );
    count(
      await this.tx.run(
        "DELETE FROM outbox WHERE tenant_id = ? AND id IN (SELECT id FROM outbox WHERE tenant_id = ? AND state <> 'queued' AND created_at <= ? ORDER BY created_at LIMIT ?)",
        [tenantId, tenantId, now - KEPT_OVER_MS, MESSAGES_AT_ONCE],
      ),
      MESSAGES_AT_ONCE,
    );
    return { removed, more };
  }
}
