import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { ListedMessage } from '../contract/records/outbox.js';
import type { MessageState } from '../contract/vocabulary.js';
import { KEPT_QUEUED_MS } from '../domain/outbox/messages.js';
import type { DueMarks } from './due-work.js';

/** `sending`: an attempt is under way, whose result is not known yet. */
export type Tended = 'done' | 'unknown' | 'sending' | 'ended';

/** The messages of the outbox as operators list, retry and discard them. */
export class TendedOutboxStore {
  private readonly clock: Clock;
  private readonly due: DueMarks;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { clock, due }: { readonly clock: Clock; readonly due: DueMarks },
  ) {
    this.clock = clock;
    this.due = due;
  }

  /** Oldest first. */
  async list({
    states,
    limit,
  }: {
    readonly states: readonly MessageState[];
    readonly limit: number;
  }): Promise<ListedMessage[]> {
    const rows = await this.tx.all(
      `SELECT id, topic, lane, state, attempts, created_at, due_at, error FROM outbox WHERE tenant_id = ? AND state IN (${states.map(() => '?').join(', ')}) ORDER BY created_at, id LIMIT ?`,
      [this.call.tenantId, ...states, limit],
    );
    return rows.map((row) => ({
      id: String(row['id']),
      topic: String(row['topic']),
      lane: String(row['lane']),
      state: String(row['state']) as MessageState, // written by the store only
      attempts: Number(row['attempts']),
      createdAt: Number(row['created_at']),
      dueAt: Number(row['due_at']),
      error: row['error'] === null || row['error'] === undefined ? null : String(row['error']),
    }));
  }

  /** Makes a message due at once. One that failed or expired begins its attempts anew. */
  async retry(id: string): Promise<Tended> {
    const now = this.clock.now();
    const state = await this.hold(id);
    if (state !== 'queued' && state !== 'failed' && state !== 'expired') return state;
    await this.tx.run(
      "UPDATE outbox SET due_at = ?, leased_until = 0, expires_at = ?, attempts = CASE WHEN state = 'queued' THEN attempts ELSE 0 END, state = 'queued' WHERE tenant_id = ? AND id = ?",
      [now, now + KEPT_QUEUED_MS, this.call.tenantId, id],
    );
    this.due.at('outbox', now);
    this.due.at('expiry', now + KEPT_QUEUED_MS);
    return 'done';
  }

  /** Ends a message without sending it, and removes one that failed from the list of those. */
  async discard(id: string, reason: string): Promise<Tended> {
    const state = await this.hold(id);
    if (state !== 'queued' && state !== 'failed' && state !== 'expired') return state;
    await this.tx.run(
      "UPDATE outbox SET state = 'settled', leased_until = 0, error = ? WHERE tenant_id = ? AND id = ?",
      [reason, this.call.tenantId, id],
    );
    return 'done';
  }

  /** The state of a message, which is locked until the transaction ends. */
  private async hold(id: string): Promise<Exclude<MessageState, 'settled'> | Exclude<Tended, 'done'>> {
    if (!isId(id)) return 'unknown';
    const row = await this.tx.get(
      `SELECT state, leased_until FROM outbox WHERE tenant_id = ? AND id = ?${this.tx.dialect === 'postgres' ? ' FOR UPDATE' : ''}`,
      [this.call.tenantId, id],
    );
    if (!row) return 'unknown';
    const state = String(row['state']) as MessageState; // written by the store only
    if (state === 'settled') return 'ended';
    return state === 'queued' && Number(row['leased_until']) > this.clock.now() ? 'sending' : state;
  }
}
