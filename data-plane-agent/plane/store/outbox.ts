import type { Clock } from '../../base/clock.js';
import type { Row, Transaction } from '../../base/database/database.js';
import { fragment } from '../../base/database/fragments.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { SkipReason } from '../contract/vocabulary.js';
import { retryAt } from '../../base/retries.js';
import type { FailedState } from '../domain/outbox/messages.js';
import type { DueMarks } from './due-work.js';

export interface MessageRow {
  readonly id: string;
  readonly topic: string;
  readonly lane: string;
  /** What the message is about, as written by the operation that queued it. */
  readonly reference: unknown;
  readonly createdAt: number;
  readonly expiresAt: number;
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

  /** The lanes with due messages, each with the instant since when the oldest one waits; the longest waiting first. */
  async lanes(limit: number): Promise<{ lane: string; since: number }[]> {
    const now = this.clock.now();
    const rows = await this.tx.all(
      "SELECT lane, min(due_at) AS since FROM outbox WHERE tenant_id = ? AND state = 'queued' AND due_at <= ? AND leased_until <= ? GROUP BY lane ORDER BY since, lane LIMIT ?",
      [this.call.tenantId, now, now, limit],
    );
    return rows.map((row) => ({ lane: String(row['lane']), since: Number(row['since']) }));
  }

  /** Leases due messages of a lane, the longest waiting first; or a single one by its id. */
  async lease({
    lane,
    id,
    limit,
    leaseMs,
  }: {
    readonly lane: string;
    readonly id?: string | null | undefined;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<MessageRow[]> {
    const { tenantId } = this.call;
    const now = this.clock.now();
    const only = id ? fragment(' AND id = ?', id) : fragment('');
    // An expired reminder is returned as well: that it was not sent is recorded with its payment line.
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM outbox WHERE tenant_id = ? AND state = 'queued' AND lane = ? AND due_at <= ? AND leased_until <= ? AND (expires_at > ? OR topic = 'reminder')${only.sql} ORDER BY due_at, id LIMIT ?${this.tx.dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''}`,
      [tenantId, lane, now, now, now, ...only.values, limit],
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

  /** Marks a message as delivered, or with a reason as not needed. Returns whether the caller still had the lease. */
  async settle(taken: Taken, reason: SkipReason | null = null): Promise<boolean> {
    return this.end(taken, { state: 'settled', error: reason });
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
  ): Promise<FailedState> {
    const again = isFinal ? null : retryAt(taken, { now: this.clock.now(), retryAfterMs });
    if (again === null) return { state: (await this.end(taken, { state: 'failed', error })) ? 'failed' : 'lost' };
    if (!isId(taken.id)) return { state: 'lost' };
    const changed = await this.tx.run(
      "UPDATE outbox SET due_at = ?, leased_until = 0, error = ? WHERE tenant_id = ? AND id = ? AND attempts = ? AND state = 'queued'",
      [again, error, this.call.tenantId, taken.id, taken.attempts],
    );
    if (changed === 0) return { state: 'lost' };
    this.due.at('outbox', again);
    return { state: 'queued', dueAt: again };
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

const COLUMNS = 'id, topic, lane, reference, created_at, expires_at, attempts';

const messageOf = (row: Row): MessageRow => ({
  id: String(row['id']),
  topic: String(row['topic']),
  lane: String(row['lane']),
  reference: JSON.parse(String(row['reference'])) as unknown,
  createdAt: Number(row['created_at']),
  expiresAt: Number(row['expires_at']),
  attempts: Number(row['attempts']),
});
