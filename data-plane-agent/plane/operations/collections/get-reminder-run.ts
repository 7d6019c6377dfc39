import { s } from '../../../base/schema.js';
import { MOST_LISTED, ReminderRun } from '../../contract/records/manual-reminders.js';
import { deliveryAnswer } from '../../domain/collections/answers.js';
import { operation } from '../../steps/operation-context.js';

/** How the reminders of a run stand: their number by status, and the first of them. */
export const getReminderRun = operation({
  effect: 'read',
  input: s.object({ runId: s.id(), limit: s.integer({ min: 1, max: MOST_LISTED }) }),
  output: ReminderRun,
  fails: [],
  async run({ store }, _call, { runId, limit }) {
    const counted = await store.reminders.countsOfRun(runId);
    const count = (status: keyof ReminderRun['counts']): number => counted.get(status) ?? 0;
    return {
      counts: {
        sent: count('sent'),
        queued: count('queued'),
        failed: count('failed'),
        skipped: count('skipped'),
        superseded: count('superseded'),
      },
      items: (await store.reminders.ofRun(runId, { limit })).map(deliveryAnswer),
    };
  },
});
