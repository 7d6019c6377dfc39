import { s } from '../../../base/schema.js';
import { InvoiceInput, InvoiceResult } from '../../contract/records/invoices.js';
import { newInvoice } from '../../domain/invoices/invoices.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { holdContract } from '../../steps/receivables/change-line.js';
import { operation } from '../../steps/operation-context.js';
import { checkAttachment } from '../../steps/files/check-attachment.js';
import { checkReceipt, namedLine } from '../../steps/receivables/references.js';
import { invoiceResult } from '../../steps/receivables/invoice-result.js';
import { settleInvoices } from '../../steps/receivables/settle-invoices.js';

/** Adds an invoice record in any status, also to a locked contract. */
export const addInvoice = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...InvoiceInput.properties }),
  output: InvoiceResult,
  fails: [
    'VERSION_MISMATCH',
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'RED_LETTER_EXCEEDS_ISSUED',
    'DUPLICATE_CODE',
    'LIMIT_REACHED',
  ],
  async run(operationContext, call, { contractId, ...input }) {
    const { store, newId } = operationContext;
    const held = await holdContract(operationContext, call, contractId);
    const { contract, lines, context } = held;
    checkVersion(contract, call);
    const line = namedLine(lines, input.receivablePlanId ?? null);
    const row = newInvoice(input, newId(), { ...context, contract, line, actorId: call.actor.id });
    context.amounts.done();
    await checkReceipt(store, contract.id, input.paymentRecordId);
    await checkAttachment(store, input.attachment);
    const settled = await settleInvoices(operationContext, call, { held, changes: [{ before: null, after: row }] });
    return invoiceResult(row, { ...settled, today: call.today });
  },
});
