import { DISCARDED } from '../outbox/messages.js';
import type { SkipReason } from '../../contract/vocabulary.js';
import type { ReminderRow } from '../../tables/reminders.js';
import type { FailedState } from '../outbox/messages.js';

/** How an attempt to deliver the reminders of a message ended. */
export interface AttemptResult {
  /** The number of attempts so far. */
  readonly attempts: number;
  /** `null`: delivered. */
  readonly failure: { readonly error: string; readonly next: Exclude<FailedState, { state: 'lost' }> } | null;
  readonly recipients: readonly string[];
  readonly subject: string | null;
  /** Reminders that the message no longer contained. */
  readonly withdrawn: ReadonlyMap<string, SkipReason>;
  readonly now: number;
}

/** A queued reminder after an attempt. */
export function afterAttempt(
  row: ReminderRow,
  { attempts, failure, recipients, subject, withdrawn, now }: AttemptResult,
): ReminderRow {
  const reason = withdrawn.get(row.id);
  if (reason !== undefined) return { ...row, status: 'skipped', reason, nextAttemptAt: null, updatedAt: now };
  const tried = { ...row, attempts, recipients: [...recipients], subject: subject ?? row.subject, updatedAt: now };
  if (failure === null) return { ...tried, status: 'sent', lastError: null, nextAttemptAt: null, sentAt: now };
  const { error: lastError, next } = failure;
  return next.state === 'queued'
    ? { ...tried, lastError, nextAttemptAt: next.dueAt }
    : { ...tried, status: 'failed', lastError, nextAttemptAt: null };
}

/** A reminder whose message an operator made due again. */
export const requeued = (row: ReminderRow, now: number): ReminderRow => ({
  ...row,
  status: 'queued',
  attempts: row.status === 'failed' ? 0 : row.attempts,
  nextAttemptAt: now,
  updatedAt: now,
});

/** A queued reminder whose message an operator discarded. */
export const discarded = (row: ReminderRow, now: number): ReminderRow => ({
  ...row,
  status: 'failed',
  lastError: DISCARDED,
  nextAttemptAt: null,
  updatedAt: now,
});
