import { s } from '../../../base/schema.js';
import { MOST_MESSAGES, OutboxMessage } from '../../contract/records/outbox.js';
import { operation } from '../../steps/operation-context.js';

/** Leases due messages of a lane of the outbox, or one of them by its id. Those not settled by the end of the lease can be leased again. */
export const leaseMessages = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({
    lane: s.text({ min: 0, max: 100 }),
    id: s.optional(s.id()),
    limit: s.integer({ min: 1, max: MOST_MESSAGES }),
    leaseMs: s.integer({ min: 1_000, max: 600_000 }),
  }),
  output: s.object({ messages: s.list(OutboxMessage, MOST_MESSAGES) }),
  fails: [],
  run: async ({ store }, _call, input) => ({ messages: await store.outbox.lease(input) }),
});
