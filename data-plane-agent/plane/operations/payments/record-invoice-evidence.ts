import { s } from '../../../base/schema.js';
import { InvoiceEvidencePatch, PaymentLineResult } from '../../contract/records/lines.js';
import { withInvoice } from '../../domain/payments/line-changes.js';
import { operation } from '../../steps/operation-context.js';
import { changeLine } from '../../steps/receivables/change-line.js';
import { lineResult } from '../../steps/receivables/line-result.js';

/** Records the invoice issued for a line. */
export const recordInvoiceEvidence = operation({
  effect: 'write',
  input: s.object({ paymentId: s.id(), ...InvoiceEvidencePatch.properties }),
  output: PaymentLineResult,
  fails: ['FILE_REFERENCE_INVALID', 'DUPLICATE_CODE', 'LIMIT_REACHED', 'LINE_HAS_MONEY', 'RED_LETTER_EXCEEDS_ISSUED'],
  async run(operationContext, call, { paymentId, ...patch }) {
    return lineResult(
      operationContext,
      call,
      await changeLine(operationContext, call, {
        paymentId,
        files: patch,
        to: (line, { context }) => withInvoice(line, patch, context),
      }),
    );
  },
});
