import { toMajor } from '../../base/money.js';
import type { Call } from '../contract/call.js';
import type { Receipt } from '../contract/records/lines.js';
import { iso } from './answers.js';
import type { LineRow, ReceiptRow } from './rows.js';
import { shown } from './sensitive.js';

/**
 * The history row for a change of what was received on a line; nothing when the total stayed. A correction has a negative delta, and the
 * day on which it is made unless another one was given: the line keeps the date of its money, and the months before keep their figures.
 */
export function receiptOf(before: Pick<LineRow, 'receivedMinor'> & Partial<Pick<LineRow, 'receivedDate'>>, after: LineRow, call: Call, now: number, newId: () => string): ReceiptRow[] {
  if (before.receivedMinor === after.receivedMinor) return [];
  const isUndated = after.receivedDate === null || (after.receivedMinor < before.receivedMinor && after.receivedDate === before.receivedDate);
  return [
    {
      id: newId(),
      contractId: after.contractId,
      lineId: after.id,
      deltaMinor: after.receivedMinor - before.receivedMinor,
      totalMinor: after.receivedMinor,
      currencyCode: after.currencyCode,
      receivedDate: isUndated ? call.today : after.receivedDate,
      method: after.method,
      payerName: after.payerName,
      receiptAccount: after.receiptAccount,
      bankSerialNo: after.bankSerialNo,
      proofFileId: after.proof,
      actorId: call.actor.id,
      actorName: call.actor.name,
      createdAt: now,
    },
  ];
}

/** What had been received on lines before they were entered here. */
export const openingReceipts = (lines: readonly LineRow[], call: Call, now: number, newId: () => string): ReceiptRow[] => lines.flatMap((line) => receiptOf({ receivedMinor: 0 }, line, call, now, newId));

export function receiptAnswer(row: ReceiptRow, { rights }: Pick<Call, 'rights'>): Receipt {
  const at = iso(row.createdAt);
  return {
    id: row.id,
    paymentId: row.lineId,
    delta: toMajor(row.deltaMinor, row.currencyCode),
    total: toMajor(row.totalMinor, row.currencyCode),
    currencyCode: row.currencyCode,
    receivedDate: row.receivedDate,
    method: row.method,
    payerName: row.payerName,
    receiptAccount: shown(row.receiptAccount, rights),
    bankSerialNo: row.bankSerialNo,
    proofFileId: row.proofFileId,
    actorId: row.actorId,
    actorName: row.actorName,
    at,
    createdAt: at,
    updatedAt: at, // a receipt is never changed: a correction is another one
  };
}
