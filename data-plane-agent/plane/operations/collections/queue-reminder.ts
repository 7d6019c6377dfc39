import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ManualChannel } from '../../contract/records/manual-reminders.js';
import { isActive } from '../../domain/collections/holds.js';
import { outstanding } from '../../domain/payments/receivable.js';
import { addManualReminders } from '../../steps/collections/manual-reminders.js';
import { operation } from '../../steps/operation-context.js';

/** Queues a reminder of an open line by hand, in a message of its own. The line need not be due yet. */
export const queueReminder = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), paymentId: s.id(), channel: ManualChannel }),
  output: s.object({ deliveryId: s.id(), messageId: s.id() }),
  fails: ['REFERENCE_INVALID', 'NOTHING_OUTSTANDING', 'LINE_HELD'],
  async run(context, call, { contractId, paymentId, channel }) {
    const { store } = context;
    const contract = await store.contracts.find(contractId, { forUpdate: true });
    if (!contract) throw fail('REFERENCE_INVALID', { field: 'contractId', value: contractId });
    const line = (await store.lines.ofContract(contract.id)).find(({ id }) => id === paymentId);
    if (!line) throw fail('REFERENCE_INVALID', { field: 'paymentId', value: paymentId });
    if (outstanding(line) === 0) throw fail('NOTHING_OUTSTANDING', { paymentId });
    const hold = await store.holds.ofLine(line.id);
    if (hold && isActive(hold, call.today)) throw fail('LINE_HELD', { paymentId, kind: hold.kind, until: hold.until });
    const [row] = await addManualReminders(context, call, { lines: [line], channel, runId: null });
    if (!row || row.messageId === null) throw new Error('the reminder was not queued');
    return { deliveryId: row.id, messageId: row.messageId };
  },
});
