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
 * Moves an invoice record from state to state, and changes what its state leaves open. What changes nothing writes
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
    if (after.receiptId !== before.receiptId) await checkReceipt(store, contract.id, after.receiptId);
    if (after.attachment !== before.attachment) await checkAttachment(store, after.attachment);
    if (before.status === 'issued' && after.status === 'void') await refuseMatched(operationContext, held, before);
    const changes = changesOf(before, after, {
      isTurned: wantedStatus(before, patch) === 'red_letter' && before.status === 'issued',
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

interface Turning {
  readonly isTurned: boolean;
  readonly held: HeldContract;
  readonly operationContext: OperationContext;
  readonly call: Call;
}

/** A record that is turned to red letter stays, with its counter record beside it. */
function changesOf(
  before: InvoiceRow,
  after: InvoiceRow,
  { isTurned, held: { context }, operationContext, call }: Turning,
): InvoiceChange[] {
  if (!isTurned) return isSameInvoice(before, after) ? [] : [{ before, after }];
  const { reversed, counter } = reversal(after, operationContext.newId(), { ...context, actorId: call.actor.id });
  return [
    { before, after: reversed },
    { before: null, after: counter },
  ];
}

/**
 * Money that was matched to the invoice asks for a red letter: on its line, or on that of the receipt which it names.
 */
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
