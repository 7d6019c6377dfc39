import { MessageIds, MessageResults } from '../../contract/records/outbox.js';
import { requeued } from '../../domain/collections/outcome.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Makes messages due at once, for operators. Those that failed or expired begin their attempts anew, and the reminders
 * that they carry are queued again.
 */
export const retryMessages = operation({
  effect: 'write',
  input: MessageIds,
  output: MessageResults,
  fails: [],
  async run({ store, recorder, clock }, _call, { ids }) {
    const answer: MessageResults = { results: [] };
    for (const id of new Set(ids)) {
      const result = await store.tendedOutbox.retry(id);
      answer.results.push({ id, result });
      if (result !== 'done') continue;
      recorder.recordEvent({ record: 'message', id, about: { retried: true } });
      const now = clock.now();
      for (const row of await store.reminders.ofMessage(id, ['queued', 'failed']))
        await store.reminders.update(row, requeued(row, now));
    }
    return answer;
  },
});
