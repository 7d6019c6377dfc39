import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { PaymentLinePatch, PaymentLineResult } from '../../contract/records/lines.js';
import { AmountReader } from '../../domain/amounts.js';
import { changesPlan, hasMoney, withInvoice, withPlan, withReceipt } from '../../domain/payments/line-changes.js';
import { checkLineRights } from '../../domain/payments/line-rights.js';
import { operation } from '../../steps/operation-context.js';
import { changeLine } from '../../steps/receivables/change-line.js';
import { lineResult } from '../../steps/receivables/line-result.js';

/**
 * Updates any field of a line. A lock protects amount and due date as part of the contract; receipts and invoices stay
 * editable.
 */
export const updatePaymentLine = operation({
  effect: 'write',
  input: s.object({ paymentId: s.id(), ...PaymentLinePatch.properties }),
  output: PaymentLineResult,
  fails: [
    'CONTRACT_LOCKED',
    'CURRENCY_FIXED',
    'RECONCILE_WITHOUT_RECEIPT',
    'FILE_REFERENCE_INVALID',
    'DUPLICATE_CODE',
    'LIMIT_REACHED',
    'LINE_HAS_MONEY',
    'RED_LETTER_EXCEEDS_ISSUED',
  ],
  async run(operationContext, call, { paymentId, ...patch }) {
    const changed = await changeLine(operationContext, call, {
      paymentId,
      files: patch,
      to: async (line, { contract, context }) => {
        const planned = withPlan(line, patch, context);
        context.amounts.done();
        // Problems with amounts are reported below, together with those of the receipt.
        checkLineRights(
          [{ planned, after: withInvoice(planned, patch, { ...context, amounts: new AmountReader() }) }],
          call.rights,
        );
        if (contract.locked && changesPlan(line, planned)) throw fail('CONTRACT_LOCKED', { fields: ['payments'] });
        if (
          planned.currencyCode !== line.currencyCode &&
          (hasMoney(line) || (await operationContext.store.lines.hasReceipts(line.id)))
        )
          throw fail('CURRENCY_FIXED', { currencyCode: line.currencyCode });
        const after = withInvoice(withReceipt(planned, patch, context), patch, context);
        checkLineRights([{ planned, after }], call.rights);
        return after;
      },
    });
    return lineResult(operationContext, call, {
      ...changed,
      bankSerialNo: patch.bankSerialNo,
      isPlan: patch.amount !== undefined || patch.currencyCode !== undefined,
    });
  },
});
