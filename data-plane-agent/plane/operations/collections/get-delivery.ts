import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ReminderDelivery } from '../../contract/records/collections.js';
import { deliveryAnswer } from '../../domain/collections/answers.js';
import { operation } from '../../steps/operation-context.js';

/** How a reminder stands, of a line in the caller's scope. */
export const getDelivery = operation({
  effect: 'read',
  input: s.object({ deliveryId: s.id() }),
  output: ReminderDelivery,
  fails: [],
  async run({ store }, _call, { deliveryId }) {
    const row = await store.reminders.find(deliveryId);
    if (!row) throw fail('NOT_FOUND', {});
    return deliveryAnswer(row);
  },
});
