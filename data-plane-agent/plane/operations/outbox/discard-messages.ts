import { MessageIds, MessageResults } from '../../contract/records/outbox.js';
import { discarded } from '../../domain/collections/outcome.js';
import { DISCARDED } from '../../domain/outbox/messages.js';
import { operation } from '../../steps/operation-context.js';

/** Ends messages without sending them, for operators. Queued reminders that they carry have failed then. */
export const discardMessages = operation({
  effect: 'write',
  input: MessageIds,
  output: MessageResults,
  fails: [],
  async run({ store, recorder, clock }, _call, { ids }) {
    const answer: MessageResults = { results: [] };
    for (const id of new Set(ids)) {
      const result = await store.tendedOutbox.discard(id, DISCARDED);
      answer.results.push({ id, result });
      if (result !== 'done') continue;
      recorder.recordEvent({ record: 'message', id, about: { discarded: true } });
      const now = clock.now();
      for (const row of await store.reminders.ofMessage(id)) await store.reminders.update(row, discarded(row, now));
    }
    return answer;
  },
});
