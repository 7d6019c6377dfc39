import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { OK, OkWithWarnings } from '../../contract/records/common.js';
import { hasMoney } from '../../domain/payments/line-changes.js';
import { planWarnings } from '../../domain/payments/plan-warnings.js';
import { operation } from '../../steps/operation-context.js';
import { changeLine } from '../../steps/receivables/change-line.js';

/** Deletes a line on which nothing was received or invoiced. The record is kept, marked as deleted. */
export const deletePaymentLine = operation({
  effect: 'write',
  input: s.object({ paymentId: s.id() }),
  output: OkWithWarnings,
  fails: ['CONTRACT_LOCKED', 'LINE_HAS_MONEY'],
  async run(operationContext, call, { paymentId }) {
    const { contract, lines } = await changeLine(operationContext, call, {
      paymentId,
      to: (line, { contract: { locked }, context }) => {
        if (locked) throw fail('CONTRACT_LOCKED', { fields: ['payments'] });
        if (hasMoney(line)) throw fail('LINE_HAS_MONEY', { paymentIds: [line.id] });
        return { ...line, updatedAt: context.now, deletedAt: context.now };
      },
    });
    const warnings = planWarnings(contract, lines);
    return { ...OK, ...(warnings.length === 0 ? {} : { warnings }) };
  },
});
