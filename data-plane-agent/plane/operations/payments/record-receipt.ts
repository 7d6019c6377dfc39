import { s } from '../../../base/schema.js';
import { PaymentLineResult, ReceiptPatch } from '../../contract/records/lines.js';
import { withReceipt } from '../../domain/payments/line-changes.js';
import { operation } from '../../steps/operation-context.js';
import { changeLine } from '../../steps/receivables/change-line.js';
import { lineResult } from '../../steps/receivables/line-result.js';

/**
 * Records the amount received on a line. It is the new total, not an increment, so that repeating the request has no
 * effect.
 */
export const recordReceipt = operation({
  effect: 'write',
  mayShare: true,
  input: s.object({ paymentId: s.id(), ...ReceiptPatch.properties }),
  output: PaymentLineResult,
  fails: ['RECONCILE_WITHOUT_RECEIPT', 'FILE_REFERENCE_INVALID'],
  async run(operationContext, call, { paymentId, ...patch }) {
    const changed = await changeLine(operationContext, call, {
      paymentId,
      files: patch,
      to: (line, { context }) => withReceipt(line, patch, context),
    });
    return lineResult(operationContext, call, { ...changed, bankSerialNo: patch.bankSerialNo });
  },
});
