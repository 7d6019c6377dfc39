import type { Call } from '../../contract/call.js';
import { formerDay, receiptOf, redatedReceipts, type Received } from '../../domain/payments/receipts.js';
import type { OperationContext } from '../operation-context.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ReceiptRow } from '../../tables/receipts.js';

/** The receipts that a change of a line adds: for a changed amount, or for a corrected day. */
export async function receiptHistory(
  { store, clock, newId }: OperationContext,
  call: Call,
  { before, after }: { readonly before: Received; readonly after: LineRow },
): Promise<ReceiptRow[]> {
  const former = formerDay(before, after);
  if (former === null) return receiptOf(before, after, { call, now: clock.now(), newId });
  return redatedReceipts({ former, thenMinor: await store.lines.receivedOn(after.id, former) }, after, {
    call,
    now: clock.now(),
    newId,
  });
}
