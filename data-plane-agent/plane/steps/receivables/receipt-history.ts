import type { Call } from '../../contract/call.js';
import type { ChangedLine } from '../../domain/payments/line-changes.js';
import { carriedReceipts, formerDay, receiptOf, redatedReceipts } from '../../domain/payments/receipts.js';
import type { OperationContext } from '../operation-context.js';
import type { LastTransfer } from '../../store/transfers.js';
import type { ReceiptRow } from '../../tables/receipts.js';

interface ReceiptChanges {
  readonly changes: readonly ChangedLine[];
  /** The last transfers of the lines, if they were read already. */
  readonly last?: ReadonlyMap<string, LastTransfer>;
}

/** Whether a change adds to the receipts of a line. */
const isContinued = ({ before, after }: ChangedLine): boolean =>
  before !== null && (before.receivedMinor !== after.receivedMinor || formerDay(before, after) !== null);

/**
 * The receipts that changes of lines add: for a changed amount, or for a corrected day. They are preceded by those that
 * make a corrected bank transfer permanent: from now on, another receipt is the line's last one.
 */
export async function receiptHistory(
  { store, clock, newId }: OperationContext,
  call: Call,
  { changes, last }: ReceiptChanges,
): Promise<ReceiptRow[]> {
  const stamp = { call, now: clock.now(), newId };
  const continued = new Set(changes.filter(isContinued).map(({ after }) => after.id));
  const known = last ?? (await store.transfers.lastOf([...continued]));
  const rows: ReceiptRow[] = [];
  for (const { before, after } of changes) {
    const former = before === null ? null : formerDay(before, after);
    const transfer = continued.has(after.id) ? known.get(after.id) : undefined;
    if (before !== null && transfer)
      rows.push(...carriedReceipts({ ...transfer, to: former === null ? before : after }, before, stamp));
    rows.push(
      ...(former === null
        ? receiptOf(before ?? { receivedMinor: 0 }, after, stamp)
        : redatedReceipts({ former, thenMinor: await store.lines.receivedOn(after.id, former) }, after, stamp)),
    );
  }
  return rows;
}
