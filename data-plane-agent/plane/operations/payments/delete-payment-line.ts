import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { hasMoney } from '../../domain/payments/line-changes.js';
import { operation } from '../../steps/operation-context.js';
import { changeLine } from '../../steps/receivables/change-line.js';

/** Deletes a line on which nothing was received or invoiced. The record is kept, marked as deleted. */
export const deletePaymentLine = operation({
  effect: 'write',
  input: s.object({ paymentId: s.id() }),
  output: Ok,
  fails: ['CONTRACT_LOCKED', 'LINE_HAS_MONEY'],
  async run(operationContext, call, { paymentId }) {
    await changeLine(operationContext, call, {
      paymentId,
      to: (line, { contract, context }) => {
        if (contract.locked) throw fail('CONTRACT_LOCKED', { fields: ['payments'] });
        if (hasMoney(line)) throw fail('LINE_HAS_MONEY', { paymentIds: [line.id] });
        return { ...line, updatedAt: context.now, deletedAt: context.now };
      },
    });
    return OK;
  },
});
