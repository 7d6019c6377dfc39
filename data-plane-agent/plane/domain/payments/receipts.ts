import type { Day } from '../../../base/day.js';
import { sumMinor, toMajor } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import type { Receipt } from '../../contract/records/lines.js';
import { iso } from '../../../base/instants.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ReceiptRow } from '../../tables/receipts.js';
import { shown } from '../sensitive.js';

/** The fields of a line before a change that its receipts depend on. */
export type Received = Pick<LineRow, 'receivedMinor'> & Partial<Pick<LineRow, 'receivedDate'>>;

/**
 * The history row for a change of the received amount; none when the total stays the same. A correction has a negative
 * delta, and is dated today unless another date was given: the line keeps its date, and past months keep their figures.
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

/** The former date of a line's receipt, when only the date was corrected. */
export const formerDay = (before: Received, after: LineRow): Day | null =>
  before.receivedMinor === after.receivedMinor &&
  after.receivedDate !== null &&
  before.receivedDate !== after.receivedDate
    ? (before.receivedDate ?? null)
    : null;

/**
 * The history rows for a corrected date: the amount received on the former date, `thenMinor`, is moved to the new one,
 * so that monthly figures match the line. A negative amount is a refund, and is moved as well.
 */
export function redatedReceipts(
  { former, thenMinor }: { readonly former: Day; readonly thenMinor: number },
  after: LineRow,
  { call, now, newId }: { readonly call: Call; readonly now: number; readonly newId: () => string },
): ReceiptRow[] {
  const movedMinor = Math.min(thenMinor, after.receivedMinor); // part of that amount may have been refunded since
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

/**
 * The history rows for a transfer whose number was corrected on the line without a receipt: what the receipts with the
 * former number sum up to (`received`) is moved to the number of `to`. The amount and the day stay the same.
 */
export function carriedReceipts(
  {
    bankSerialNo,
    received,
    to,
  }: { readonly bankSerialNo: string | null; readonly received: bigint; readonly to: LineRow },
  before: LineRow,
  stamp: { readonly call: Call; readonly now: number; readonly newId: () => string },
): ReceiptRow[] {
  const movedMinor = Number(received);
  if (movedMinor === 0 || bankSerialNo === to.bankSerialNo || !Number.isSafeInteger(movedMinor)) return [];
  const receivedDate = before.receivedDate ?? stamp.call.today;
  const taken = { line: { ...before, bankSerialNo }, deltaMinor: -movedMinor };
  const added = { line: { ...before, bankSerialNo: to.bankSerialNo }, deltaMinor: movedMinor };
  let totalMinor = before.receivedMinor;
  // In the order in which no total is negative: refunds may name another transfer than the receipts.
  return (movedMinor <= totalMinor ? [taken, added] : [added, taken]).map(({ line, deltaMinor }) => {
    totalMinor += deltaMinor;
    return receiptRow(line, { deltaMinor, totalMinor, receivedDate }, stamp);
  });
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

/** The history rows for amounts received before the lines were created. */
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
    updatedAt: at, // receipts are never changed; a correction adds another one
  };
}
