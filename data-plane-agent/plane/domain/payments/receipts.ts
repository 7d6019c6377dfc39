import type { Day } from '../../../base/day.js';
import { sumMinor, toMajor } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import type { Receipt } from '../../contract/records/lines.js';
import { iso } from '../../../base/instants.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ReceiptRow } from '../../tables/receipts.js';
import { shown } from '../sensitive.js';

/** Of a line before a change, what its receipts depend on. */
export type Received = Pick<LineRow, 'receivedMinor'> & Partial<Pick<LineRow, 'receivedDate'>>;

/**
 * The history row for a change of what was received on a line; nothing when the total stayed. A correction has a
 * negative delta, and the day on which it is made unless another one was given: the line keeps the date of its money,
 * and the months before keep their figures.
 */
export function receiptOf(
  before: Received,
  after: LineRow,
  { call, now, newId }: { readonly call: Call; readonly now: number; readonly newId: () => string },
): ReceiptRow[] {
  if (before.receivedMinor === after.receivedMinor) return [];
  const isUndated =
    after.receivedDate === null ||
    (after.receivedMinor < before.receivedMinor && after.receivedDate === before.receivedDate);
  const delta = {
    deltaMinor: after.receivedMinor - before.receivedMinor,
    totalMinor: after.receivedMinor,
    receivedDate: isUndated ? call.today : after.receivedDate,
  };
  return [receiptRow(after, delta, { call, now, newId })];
}

/** The day on which the money of a line was said to have come, when only that day was corrected. */
export const formerDay = (before: Received, after: LineRow): Day | null =>
  before.receivedMinor === after.receivedMinor &&
  after.receivedDate !== null &&
  before.receivedDate !== after.receivedDate
    ? (before.receivedDate ?? null)
    : null;

/**
 * The history rows for a corrected day: what came on the former one, `thenMinor`, is taken from it and put to the
 * other, so that months have the money that the line's date says. Less than nothing is a refund, which moves like
 * money.
 */
export function redatedReceipts(
  { former, thenMinor }: { readonly former: Day; readonly thenMinor: number },
  after: LineRow,
  { call, now, newId }: { readonly call: Call; readonly now: number; readonly newId: () => string },
): ReceiptRow[] {
  const movedMinor = Math.min(thenMinor, after.receivedMinor); // part of what came then may have been given back since
  const withoutMinor = sumMinor([after.receivedMinor, -movedMinor], after.currencyCode);
  if (movedMinor === 0 || typeof withoutMinor !== 'number') return [];
  return [
    receiptRow(
      after,
      { deltaMinor: -movedMinor, totalMinor: withoutMinor, receivedDate: former },
      { call, now, newId },
    ),
    receiptRow(
      after,
      { deltaMinor: movedMinor, totalMinor: after.receivedMinor, receivedDate: after.receivedDate },
      { call, now, newId },
    ),
  ];
}

const receiptRow = (
  line: LineRow,
  change: Pick<ReceiptRow, 'deltaMinor' | 'totalMinor' | 'receivedDate'>,
  { call, now, newId }: { readonly call: Call; readonly now: number; readonly newId: () => string },
): ReceiptRow => ({
  id: newId(),
  contractId: line.contractId,
  lineId: line.id,
  ...change,
  currencyCode: line.currencyCode,
  method: line.method,
  payerName: line.payerName,
  receiptAccount: line.receiptAccount,
  bankSerialNo: line.bankSerialNo,
  proofFileId: line.proof,
  actorId: call.actor.id,
  actorName: call.actor.name,
  createdAt: now,
});

/** What had been received on lines before they were entered here. */
export const openingReceipts = (
  lines: readonly LineRow[],
  { call, now, newId }: { readonly call: Call; readonly now: number; readonly newId: () => string },
): ReceiptRow[] => lines.flatMap((line) => receiptOf({ receivedMinor: 0 }, line, { call, now, newId }));

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
