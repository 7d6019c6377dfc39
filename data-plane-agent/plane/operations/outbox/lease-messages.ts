import { s } from '../../../base/schema.js';
import { MOST_MESSAGES, OutboxMessage } from '../../contract/records/outbox.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Takes messages of the outbox that are due, for a while: what is neither settled nor failed by then, another takes.
 */
export const leaseMessages = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({
    limit: s.integer({ min: 1, max: MOST_MESSAGES }),
    leaseMs: s.integer({ min: 1_000, max: 600_000 }),
  }),
  output: s.object({ messages: s.list(OutboxMessage, MOST_MESSAGES) }),
  fails: [],
  run: async ({ store }, _call, input) => ({ messages: await store.outbox.lease(input) }),
});
