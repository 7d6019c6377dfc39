import type { Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { toMajor } from '../../../base/money.js';
import type { AmountReader } from '../amounts.js';
import { uniqueKey } from '../unique-key.js';
import type { InvoiceChange, InvoiceRow } from '../../tables/invoices.js';
import { afterChanges, isSameInvoice, issuedMinor, redMinor, withRecords } from './invoices.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ContractRow } from '../../tables/contracts.js';

/** Under what the records of a line follow it. `path` begins the names of the line's fields. */
export interface EvidenceContext {
  readonly amounts: AmountReader;
  readonly path: string;
  /** The contract as the request leaves it. */
  readonly contract: Pick<ContractRow, 'id' | 'subjectId' | 'invoicePoints'>;
  readonly today: Day;
  readonly now: number;
  readonly actorId: string | null;
  readonly newId: () => string;
}

const EVIDENCE = ['invoiceMinor', 'invoiceDate', 'invoiceNo', 'invoiceAttachment'] as const;

/** Whether a line's records have to be looked at when it changes from `before` to `after`. */
export const movesRecords = (before: LineRow | null, after: LineRow): boolean =>
  EVIDENCE.some((field) => (before?.[field] ?? null) !== after[field]) ||
  (before !== null &&
    before.invoiceRecords > 0 &&
    (before.currencyCode !== after.currencyCode || after.deletedAt !== null));

/**
 * A changed line, and what its change makes of its records. An invoice number on a line makes one issued record, which
 * follows what is said on the line, so that nothing is counted twice; without a number there is none. Drafts take the
 * line's currency, and go with it.
 */
export function followed(
  { before, after }: { readonly before: LineRow | null; readonly after: LineRow },
  records: readonly InvoiceRow[],
  context: EvidenceContext,
): { readonly line: LineRow; readonly changes: readonly InvoiceChange[] } {
  const { now, actorId } = context;
  const stamped = ({ before: was, after: is }: InvoiceChange): InvoiceChange => ({
    before: was,
    after: { ...is, updatedAt: now, updatedBy: actorId },
  });
  if (after.deletedAt !== null)
    return { line: after, changes: records.map((row) => stamped({ before: row, after: { ...row, deletedAt: now } })) };
  const told = recordOf(after, records);
  const line = dated({ before, after }, told, context.today);
  const changes = [
    ...inNewCurrency(
      records.filter((row) => row !== told),
      line.currencyCode,
      context,
    ),
    ...evidence({ before, line }, told, context),
  ].map(stamped);
  const next = afterChanges(records, changes, () => true);
  refuseExcess(next, line.currencyCode);
  return { line: withRecords(line, next, now), changes };
}

/** A draft keeps its number under another currency; a void record is of the past. */
export const inNewCurrency = (
  records: readonly InvoiceRow[],
  currencyCode: string,
  { amounts, path }: Pick<EvidenceContext, 'amounts' | 'path'>,
): InvoiceChange[] =>
  records
    .filter((row) => row.status === 'draft' && row.currencyCode !== currencyCode)
    .map((row) => ({
      before: row,
      after: {
        ...row,
        currencyCode,
        amountMinor: amounts.minor(`${path}currencyCode`, toMajor(row.amountMinor, row.currencyCode), currencyCode),
      },
    }));

/** Refuses red letters that take away more than is issued beside them. */
export function refuseExcess(records: readonly InvoiceRow[], currencyCode: string): void {
  const [issued, red] = [issuedMinor(records), redMinor(records)];
  if (red > issued)
    throw fail('RED_LETTER_EXCEEDS_ISSUED', {
      issuedAmount: toMajor(issued, currencyCode),
      redLetterAmount: toMajor(red, currencyCode),
      currencyCode,
    });
}

/** Money was received on the line and found to be the right money: its invoice is not simply withdrawn. */
export const hasMatchedMoney = ({
  receivedMinor,
  reconciliationStatus,
}: Pick<LineRow, 'receivedMinor' | 'reconciliationStatus'>): boolean =>
  receivedMinor > 0 && reconciliationStatus === 'matched';

/** The record that was made from what is said on the line, as long as it stands. */
export const isOfLine = (row: InvoiceRow): boolean =>
  row.fromLine && row.status === 'issued' && row.reversedById === null;

/** The line without invoice: what it told of is void, or a red letter has taken it away. */
export const withoutEvidence = (line: LineRow): LineRow => ({
  ...line,
  invoiceMinor: null,
  invoiceDate: null,
  invoiceNo: null,
  invoiceAttachment: null,
});

/**
 * The record that tells of the line's invoice: the one made from it, else one that was entered under its number before.
 */
function recordOf({ invoiceNo }: LineRow, records: readonly InvoiceRow[]): InvoiceRow | undefined {
  const present = records.find(isOfLine);
  if (present || invoiceNo === null) return present;
  return records.find(
    (row) =>
      row.invoiceKey === uniqueKey(invoiceNo) &&
      row.reversedById === null &&
      (row.status === 'draft' || row.status === 'issued'),
  );
}

/**
 * What is invoiced has a date, which goes with the last of it. `null` names none: else the same request twice would
 * move it.
 */
function dated(
  { before, after }: { readonly before: LineRow | null; readonly after: LineRow },
  told: InvoiceRow | undefined,
  today: Day,
): LineRow {
  if (isInvoiced(after))
    return after.invoiceDate === null
      ? { ...after, invoiceDate: before?.invoiceDate ?? told?.invoiceDate ?? today }
      : after;
  return before && isInvoiced(before) && before.invoiceDate === after.invoiceDate
    ? { ...after, invoiceDate: null }
    : after;
}

const isInvoiced = ({ invoiceMinor, invoiceNo }: LineRow): boolean => (invoiceMinor ?? 0) > 0 || invoiceNo !== null;

function evidence(
  { before, line }: { readonly before: LineRow | null; readonly line: LineRow },
  told: InvoiceRow | undefined,
  context: EvidenceContext,
): InvoiceChange[] {
  const { invoiceNo } = line;
  if (invoiceNo === null) {
    if (!told) return [];
    if (before && hasMatchedMoney(before)) throw fail('LINE_HAS_MONEY', { paymentIds: [line.id] });
    return [{ before: told, after: { ...told, deletedAt: context.now } }];
  }
  if (before && EVIDENCE.every((field) => before[field] === line[field])) return [];
  const record = told ?? newRecord(line, invoiceNo, context);
  const isAmountCleared = line.invoiceMinor === null && before !== null && before.invoiceMinor !== null;
  const next: InvoiceRow = {
    ...record,
    subjectId: context.contract.subjectId,
    invoiceNo,
    invoiceKey: uniqueKey(invoiceNo),
    currencyCode: line.currencyCode,
    amountMinor: line.invoiceMinor ?? (isAmountCleared ? 0 : record.amountMinor),
    invoiceDate: line.invoiceDate,
    status: 'issued',
    attachment:
      line.invoiceAttachment === (before?.invoiceAttachment ?? null) ? record.attachment : line.invoiceAttachment,
    fromLine: true,
  };
  return told && isSameInvoice(told, next) ? [] : [{ before: told ?? null, after: next }];
}

const newRecord = (
  line: LineRow,
  invoiceNo: string,
  { contract, now, actorId, newId }: EvidenceContext,
): InvoiceRow => ({
  id: newId(),
  contractId: contract.id,
  lineId: line.id,
  receiptId: null,
  subjectId: contract.subjectId,
  invoiceNo,
  invoiceKey: uniqueKey(invoiceNo),
  amountMinor: 0,
  currencyCode: line.currencyCode,
  invoiceDate: null,
  status: 'issued',
  attachment: line.invoiceAttachment,
  taxRate: contract.invoicePoints === null ? null : String(contract.invoicePoints),
  note: null,
  fromLine: true,
  reversesId: null,
  reversedById: null,
  createdAt: now,
  createdBy: actorId,
  updatedAt: now,
  updatedBy: actorId,
  deletedAt: null,
});
