import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import type { Call } from '../../contract/call.js';
import { InvoicePatch, InvoiceResult } from '../../contract/records/invoices.js';
import type { InvoiceChange, InvoiceRow } from '../../tables/invoices.js';
import { isSameInvoice, patchedInvoice, reversal, wantedStatus } from '../../domain/invoices/invoices.js';
import { hasMatchedMoney } from '../../domain/invoices/line-evidence.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { holdContract, type HeldContract } from '../../steps/receivables/change-line.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';
import { checkAttachment } from '../../steps/files/check-attachment.js';
import { checkReceipt, namedLine } from '../../steps/receivables/references.js';
import { invoiceResult } from '../../steps/receivables/invoice-result.js';
import { settleInvoices } from '../../steps/receivables/settle-invoices.js';

/**
 * Changes the status of an invoice record and the fields that its status allows. A request without effect writes
 * nothing.
 */
export const updateInvoice = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), invoiceId: s.id(), changes: InvoicePatch }),
  output: InvoiceResult,
  fails: [
    'VERSION_MISMATCH',
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'INVALID_TRANSITION',
    'INVOICE_FIXED',
    'LINE_HAS_MONEY',
    'RED_LETTER_EXCEEDS_ISSUED',
    'DUPLICATE_CODE',
    'LIMIT_REACHED',
  ],
  async run(operationContext, call, { contractId, invoiceId, changes: patch }) {
    const { store } = operationContext;
    const held = await holdContract(operationContext, call, contractId);
    const { contract, lines, context } = held;
    const before = await store.invoices.find(contract.id, invoiceId);
    if (!before) throw fail('NOT_FOUND', {});
    checkVersion(contract, call);
    const line = namedLine(lines, patch.receivablePlanId === undefined ? before.lineId : patch.receivablePlanId);
    const after = patchedInvoice(before, patch, { ...context, contract, line, actorId: call.actor.id });
    if (patch.redLetterNo) await refuseRenamed(operationContext, before, patch.redLetterNo);
    if (after.receiptId !== before.receiptId) await checkReceipt(store, contract.id, after.receiptId);
    if (after.attachment !== before.attachment) await checkAttachment(store, after.attachment);
    if (before.status === 'issued' && after.status === 'void') await refuseMatched(operationContext, held, before);
    const changes = changesOf(before, after, {
      isReversed: wantedStatus(before, patch) === 'red_letter' && before.status === 'issued',
      redLetterNo: patch.redLetterNo,
      held,
      operationContext,
      call,
    });
    const [first] = changes;
    return first
      ? invoiceResult(first.after, await settleInvoices(operationContext, call, { held, changes }))
      : invoiceResult(before, held);
  },
});

interface ChangeContext {
  readonly isReversed: boolean;
  readonly redLetterNo: string | null | undefined;
  readonly held: HeldContract;
  readonly operationContext: OperationContext;
  readonly call: Call;
}

/** A record that becomes a red letter is kept, and a counter record is added. */
function changesOf(
  before: InvoiceRow,
  after: InvoiceRow,
  { isReversed, redLetterNo, held: { context }, operationContext, call }: ChangeContext,
): InvoiceChange[] {
  if (!isReversed) return isSameInvoice(before, after) ? [] : [{ before, after }];
  const { reversed, counter } = reversal(
    after,
    { id: operationContext.newId(), redLetterNo },
    { ...context, actorId: call.actor.id },
  );
  return [
    { before, after: reversed },
    { before: null, after: counter },
  ];
}

/** The number of an existing red letter is final. Sending its current number changes nothing. */
async function refuseRenamed({ store }: OperationContext, row: InvoiceRow, redLetterNo: string): Promise<void> {
  const red =
    row.status === 'red_letter'
      ? row
      : row.reversedById === null
        ? undefined
        : await store.invoices.find(row.contractId, row.reversedById);
  if (red && red.invoiceNo !== redLetterNo)
    throw fail('INVOICE_FIXED', { fields: ['redLetterNo'], status: row.status });
}

/** An invoice with matched money, on its line or on that of its receipt, cannot become void: it needs a red letter. */
async function refuseMatched(
  { store }: OperationContext,
  { contract, lines }: HeldContract,
  row: InvoiceRow,
): Promise<void> {
  const paidLineId =
    row.receiptId === null ? undefined : await store.invoices.lineOfReceipt(contract.id, row.receiptId);
  const matched = lines.filter(
    (line) => (line.id === row.lineId && hasMatchedMoney(line)) || (line.id === paidLineId && line.receivedMinor > 0),
  );
  if (matched.length > 0) throw fail('LINE_HAS_MONEY', { paymentIds: matched.map(({ id }) => id) });
}
