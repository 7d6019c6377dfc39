import { s } from '../../../base/schema.js';
import { PaymentLineResult, ReceiptInput } from '../../contract/records/lines.js';
import { withAddedReceipt } from '../../domain/payments/line-changes.js';
import { operation } from '../../steps/operation-context.js';
import { changeLine } from '../../steps/receivables/change-line.js';
import { lineResult } from '../../steps/receivables/line-result.js';

/** Adds an amount, as a bank statement shows it, to what a line has received. */
export const addReceipt = operation({
  effect: 'write',
  mayShare: true,
  input: s.object({ paymentId: s.id(), ...ReceiptInput.properties }),
  output: PaymentLineResult,
  fails: ['FILE_REFERENCE_INVALID'],
  async run(operationContext, call, { paymentId, ...receipt }) {
    const { store } = operationContext;
    const { bankSerialNo } = receipt;
    let isRepeated = false;
    const changed = await changeLine(operationContext, call, {
      paymentId,
      files: receipt,
      to: async (line, { context }) => {
        isRepeated = bankSerialNo ? await store.transfers.hasPaid(line.id, bankSerialNo) : false;
        return withAddedReceipt(line, receipt, context);
      },
    });
    return lineResult(operationContext, call, { ...changed, bankSerialNo, isRepeated });
  },
});
