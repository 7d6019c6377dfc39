import { s } from '../../../base/schema.js';
import { ReminderOutcome } from '../../contract/records/reminder-messages.js';
import { afterAttempt } from '../../domain/collections/outcome.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';

/**
 * Records the outcome of an attempt to deliver a leased message with reminders, as `settleMessages` does for others, and
 * the result of each reminder in the same transaction. `lost`: the lease had expired, and nothing is recorded.
 */
export const settleReminders = operation({
  effect: 'write',
  whileMoving: 'settling',
  input: ReminderOutcome,
  output: s.object({ state: s.enum(['settled', 'queued', 'failed', 'lost']) }),
  fails: [],
  async run(context, _call, outcome) {
    const { store, clock } = context;
    const ended = await endOf(context, outcome);
    if (ended.state === 'lost') return ended;
    const { id, attempts, error, recipients, subject } = outcome;
    const withdrawn = new Map(outcome.withdrawn.map(({ reminderId, reason }) => [reminderId, reason]));
    const failure = error === null || ended.state === 'settled' ? null : { error, next: ended };
    for (const row of await store.reminders.ofMessage(id))
      await store.reminders.update(
        row,
        afterAttempt(row, { attempts, failure, recipients, subject, withdrawn, now: clock.now() }),
      );
    return { state: ended.state };
  },
});

async function endOf({ store }: OperationContext, { id, attempts, error, retryAfterMs, isFinal }: ReminderOutcome) {
  const taken = { id, attempts };
  if (error !== null)
    return store.outbox.fail(taken, { error, retryAfterMs: retryAfterMs ?? null, isFinal: isFinal ?? false });
  return (await store.outbox.settle(taken)) ? { state: 'settled' as const } : { state: 'lost' as const };
}
