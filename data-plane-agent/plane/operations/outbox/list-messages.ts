import { s } from '../../../base/schema.js';
import { ListedMessage, MOST_LISTED } from '../../contract/records/outbox.js';
import { MESSAGE_STATES } from '../../contract/vocabulary.js';
import { operation } from '../../steps/operation-context.js';

/** Messages of the outbox in the given states, for operators; the oldest first. */
export const listMessages = operation({
  effect: 'read',
  input: s.object({
    states: s.list(s.enum(MESSAGE_STATES), MESSAGE_STATES.length),
    limit: s.integer({ min: 1, max: MOST_LISTED }),
  }),
  output: s.object({ messages: s.list(ListedMessage, MOST_LISTED) }),
  fails: [],
  run: async ({ store }, _call, { states, limit }) => ({
    messages: states.length === 0 ? [] : await store.tendedOutbox.list({ states, limit }),
  }),
});
