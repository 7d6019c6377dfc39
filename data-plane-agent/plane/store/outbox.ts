import type { Clock } from '../../base/clock.js';
import type { Row, Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { retryAt } from '../domain/outbox/messages.js';
import type { DueMarks } from './due-work.js';

export interface MessageRow {
  readonly id: string;
  readonly topic: string;
  /** What the message is about, as written by the operation that queued it. */
  readonly reference: unknown;
  readonly createdAt: number;
  /** How often the message was leased, including this time. A worker with an older count has lost its lease. */
  readonly attempts: number;
}

/** Identifies a message and the lease under which it was taken. */
export type Taken = Pick<MessageRow, 'id' | 'attempts'>;

/** Messages that writes have queued. A worker leases a message for a while; when it dies, another worker takes over. */
export class OutboxStore {
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

  /** Leases due messages, the longest waiting first. */
  async lease({ limit, leaseMs }: { readonly limit: number; readonly leaseMs: number }): Promise<MessageRow[]> {
    const { tenantId } = this.call;
    const now = this.clock.now();
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM outbox WHERE tenant_id = ? AND state = 'queued' AND due_at <= ? AND leased_until <= ? AND expires_at > ? ORDER BY due_at, id LIMIT ?${this.tx.dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''}`,
      [tenantId, now, now, now, limit],
    );
    for (const { id = null } of rows)
      await this.tx.run('UPDATE outbox SET leased_until = ?, attempts = attempts + 1 WHERE tenant_id = ? AND id = ?', [
        now + leaseMs,
        tenantId,
        id,
      ]);
    if (rows.length > 0) this.due.at('outbox', now + leaseMs);
    return rows.map((row) => ({ ...messageOf(row), attempts: Number(row['attempts']) + 1 }));
  }

  /** Marks a message as delivered. Returns whether the caller still had the lease. */
  async settle(taken: Taken): Promise<boolean> {
    return this.end(taken, { state: 'settled', error: null });
  }

  /**
   * Records a failed delivery: the message is queued again, or marked as failed after the last try or when `isFinal` is
   * set.
   */
  async fail(
    taken: Taken,
    {
      error,
      retryAfterMs,
      isFinal,
    }: { readonly error: string; readonly retryAfterMs: number | null; readonly isFinal: boolean },
  ): Promise<'queued' | 'failed' | 'lost'> {
    const again = isFinal ? null : retryAt(taken, { now: this.clock.now(), retryAfterMs });
    if (again === null) return (await this.end(taken, { state: 'failed', error })) ? 'failed' : 'lost';
    if (!isId(taken.id)) return 'lost';
    const changed = await this.tx.run(
      "UPDATE outbox SET due_at = ?, leased_until = 0, error = ? WHERE tenant_id = ? AND id = ? AND attempts = ? AND state = 'queued'",
      [again, error, this.call.tenantId, taken.id, taken.attempts],
    );
    if (changed === 0) return 'lost';
    this.due.at('outbox', again);
    return 'queued';
  }

  private async end(
    { id, attempts }: Taken,
    { state, error }: { readonly state: 'settled' | 'failed'; readonly error: string | null },
  ): Promise<boolean> {
    if (!isId(id)) return false;
    return (
      (await this.tx.run(
        "UPDATE outbox SET state = ?, leased_until = 0, error = ? WHERE tenant_id = ? AND id = ? AND attempts = ? AND state = 'queued'",
        [state, error, this.call.tenantId, id, attempts],
      )) > 0
    );
  }
}

const COLUMNS = 'id, topic, reference, created_at, attempts';

const messageOf = (row: Row): MessageRow => ({
  id: String(row['id']),
  topic: String(row['topic']),
  reference: JSON.parse(String(row['reference'])) as unknown,
  createdAt: Number(row['created_at']),
  attempts: Number(row['attempts']),
});
