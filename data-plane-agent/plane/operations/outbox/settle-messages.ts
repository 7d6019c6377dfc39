import { s } from '../../../base/schema.js';
import { MessageOutcome, MOST_MESSAGES } from '../../contract/records/outbox.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Records the outcome of leased messages other than reminders, see `settleReminders`. Delivered ones are settled; others are retried up to eight times within a
 * day, and then fail with the last error. `lost` counts messages whose lease had expired.
 */
export const settleMessages = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'settling',
  input: s.object({ outcomes: s.list(MessageOutcome, MOST_MESSAGES) }),
  output: s.object({ settled: s.integer(), queued: s.integer(), failed: s.integer(), lost: s.integer() }),
  fails: [],
  async run({ store }, _call, { outcomes }) {
    const counts = { settled: 0, queued: 0, failed: 0, lost: 0 };
    for (const { id, attempts, error, retryAfterMs, isFinal, reason } of outcomes) {
      const taken = { id, attempts };
      if (error === null) counts[(await store.outbox.settle(taken, reason)) ? 'settled' : 'lost'] += 1;
      else {
        const failed = { error, retryAfterMs: retryAfterMs ?? null, isFinal: isFinal ?? false };
        counts[(await store.outbox.fail(taken, failed)).state] += 1;
      }
    }
    return counts;
  },
});
