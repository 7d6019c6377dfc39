import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { heldLine } from '../../steps/collections/held-line.js';
import { operation } from '../../steps/operation-context.js';

/** Removes the hold of a line, if it has one. */
export const deletePaymentHold = operation({
  effect: 'write',
  input: s.object({ paymentId: s.id() }),
  output: Ok,
  fails: [],
  async run(context, _call, { paymentId }) {
    const line = await heldLine(context, paymentId);
    const hold = await context.store.holds.ofLine(line.id);
    if (hold) await context.store.holds.remove(hold);
    return OK;
  },
});
