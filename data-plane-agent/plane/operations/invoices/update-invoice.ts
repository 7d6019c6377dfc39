import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { InvoicePatch, InvoiceResult } from '../../contract/records/invoices.js';
import type { InvoiceChange, InvoiceRow } from '../../tables/invoices.js';
import { isSameInvoice, patchedInvoice, wantedStatus } from '../../domain/invoices/invoices.js';
import { correctedRedLetter, redLetterIssues, reversal, reversalWarnings } from '../../domain/invoices/reversal.js';
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
    const reversed = before.reversesId === null ? before : await store.invoices.find(contract.id, before.reversesId);
    for (const { path, problem } of redLetterIssues(patch, reversed?.invoiceDate))
      context.amounts.refuse(path, problem);
    const stamps = { ...context, actorId: call.actor.id };
    const after = patchedInvoice(before, patch, { ...stamps, contract, line });
    if (after.receiptId !== before.receiptId) await checkReceipt(store, contract.id, after.receiptId);
    if (after.attachment !== before.attachment) await checkAttachment(store, after.attachment);
    if (before.status === 'issued' && after.status === 'void') await refuseMatched(operationContext, held, before);
    if (before.status === 'issued' && wantedStatus(before, patch) === 'red_letter') {
      const made = reversal(after, { ...patch, id: operationContext.newId() }, stamps);
      const changes = [
        { before, after: made.reversed },
        { before: null, after: made.counter },
      ];
      const settled = await settleInvoices(operationContext, call, { held, changes });
      const result = invoiceResult(made.reversed, { ...settled, today: call.today, dated: made.counter });
      return { ...result, warnings: [...result.warnings, ...reversalWarnings(made.counter, patch)] };
    }
    const red = await redLetterOf(store, before);
    const corrected =
      red &&
      correctedRedLetter(red.id === after.id ? after : red, { asked: patch, reversed, status: before.status, stamps });
    const now = corrected?.id === after.id ? corrected : after;
    const changes: InvoiceChange[] = [
      ...(isSameInvoice(before, now) ? [] : [{ before, after: now }]),
      ...(red && corrected && corrected !== now && corrected !== red ? [{ before: red, after: corrected }] : []),
    ];
    if (changes.length === 0) return invoiceResult(before, { ...held, today: call.today });
    const settled = await settleInvoices(operationContext, call, { held, changes });
    return invoiceResult(now, { ...settled, today: call.today, dated: corrected });
  },
});

/** The red letter that a request is about: the record itself, or the one that reverses it. */
async function redLetterOf({ invoices }: OperationContext['store'], row: InvoiceRow): Promise<InvoiceRow | undefined> {
  if (row.status === 'red_letter') return row;
  return row.reversedById === null ? undefined : invoices.find(row.contractId, row.reversedById);
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
