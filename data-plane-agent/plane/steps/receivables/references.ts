import { fail } from '../../../base/failures.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { Store } from '../../store/store.js';

/** The contract's live line with this id. Throws REFERENCE_INVALID. */
export function namedLine(lines: readonly LineRow[], lineId: string | null): LineRow | undefined {
  if (lineId === null) return undefined;
  const line = lines.find(({ id }) => id === lineId);
  if (!line) throw fail('REFERENCE_INVALID', { field: 'receivablePlanId', value: lineId });
  return line;
}

/** Refuses a receipt that was not recorded on this contract. */
export async function checkReceipt(
  store: Store,
  contractId: string,
  receiptId: string | null | undefined,
): Promise<void> {
  if (receiptId === null || receiptId === undefined) return;
  if ((await store.invoices.lineOfReceipt(contractId, receiptId)) === undefined)
    throw fail('REFERENCE_INVALID', { field: 'paymentRecordId', value: receiptId });
}
