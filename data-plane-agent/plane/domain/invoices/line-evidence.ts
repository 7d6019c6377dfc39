import type { Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { toMajor } from '../../../base/money.js';
import type { AmountReader } from '../amounts.js';
import { uniqueKey } from '../unique-key.js';
import type { InvoiceChange, InvoiceRow } from '../../tables/invoices.js';
import { afterChanges, isSameInvoice, issuedMinor, redMinor, withRecords } from './invoices.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The context in which a line's records are updated. `path` is the prefix of the line's field names. */
export interface EvidenceContext {
  readonly amounts: AmountReader;
  readonly path: string;
  /** The contract after the request. */
  readonly contract: Pick<ContractRow, 'id' | 'subjectId' | 'invoicePoints'>;
  readonly today: Day;
  readonly now: number;
  readonly actorId: string | null;
  readonly newId: () => string;
}

const EVIDENCE = ['invoiceMinor', 'invoiceDate', 'invoiceNo', 'invoiceAttachment'] as const;

/** Whether a change of a line affects its records. */
export const movesRecords = (before: LineRow | null, after: LineRow): boolean =>
  EVIDENCE.some((field) => (before?.[field] ?? null) !== after[field]) ||
  (before !== null &&
    before.invoiceRecords > 0 &&
    (before.currencyCode !== after.currencyCode || after.deletedAt !== null));

/**
 * A changed line with the resulting changes of its records. An invoice number on a line creates one issued record,
 * which is updated with the line, so that nothing is counted twice; clearing the number deletes it. Drafts get the
 * line's currency, and are deleted with the line.
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
  const present = recordOf(after, records);
  const line = dated({ before, after }, present, context.today);
  const changes = [
    ...inNewCurrency(
      records.filter((row) => row !== present),
      line.currencyCode,
      context,
    ),
    ...evidence({ before, line }, present, context),
  ].map(stamped);
  const next = afterChanges(records, changes, () => true);
  refuseExcess(next, line.currencyCode);
  return { line: withRecords(line, next, now), changes };
}

/** Drafts keep their number under another currency; other records do not change. */
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

/** Refuses red letters that exceed the issued amount. */
export function refuseExcess(records: readonly InvoiceRow[], currencyCode: string): void {
  const [issued, red] = [issuedMinor(records), redMinor(records)];
  if (red > issued)
    throw fail('RED_LETTER_EXCEEDS_ISSUED', {
      issuedAmount: toMajor(issued, currencyCode),
      redLetterAmount: toMajor(red, currencyCode),
      currencyCode,
    });
}

/** Whether money was received and reconciled: then the invoice cannot simply be withdrawn. */
export const hasMatchedMoney = ({
  receivedMinor,
  reconciliationStatus,
}: Pick<LineRow, 'receivedMinor' | 'reconciliationStatus'>): boolean =>
  receivedMinor > 0 && reconciliationStatus === 'matched';

/** Whether the record was made from the line and is in force. */
export const isOfLine = (row: InvoiceRow): boolean =>
  row.fromLine && row.status === 'issued' && row.reversedById === null;

/** The line without invoice fields, when its record was voided or reversed. */
export const withoutEvidence = (line: LineRow): LineRow => ({
  ...line,
  invoiceMinor: null,
  invoiceDate: null,
  invoiceNo: null,
  invoiceAttachment: null,
});

/** The record for the line's invoice: the one made from it, or one created before with its number. */
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
 * Sets the invoice date of an invoiced line, and clears it with the last invoice field. `null` keeps the former date,
 * so that repeating a request does not change it.
 */
function dated(
  { before, after }: { readonly before: LineRow | null; readonly after: LineRow },
  present: InvoiceRow | undefined,
  today: Day,
): LineRow {
  if (isInvoiced(after))
    return after.invoiceDate === null
      ? { ...after, invoiceDate: before?.invoiceDate ?? present?.invoiceDate ?? today }
      : after;
  return before && isInvoiced(before) && before.invoiceDate === after.invoiceDate
    ? { ...after, invoiceDate: null }
    : after;
}

const isInvoiced = ({ invoiceMinor, invoiceNo }: LineRow): boolean => (invoiceMinor ?? 0) > 0 || invoiceNo !== null;

function evidence(
  { before, line }: { readonly before: LineRow | null; readonly line: LineRow },
  present: InvoiceRow | undefined,
  context: EvidenceContext,
): InvoiceChange[] {
  const { invoiceNo } = line;
  if (invoiceNo === null) {
    if (!present) return [];
    if (before && hasMatchedMoney(before)) throw fail('LINE_HAS_MONEY', { paymentIds: [line.id] });
    return [{ before: present, after: { ...present, deletedAt: context.now } }];
  }
  if (before && EVIDENCE.every((field) => before[field] === line[field])) return [];
  const record = present ?? newRecord(line, invoiceNo, context);
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
  return present && isSameInvoice(present, next) ? [] : [{ before: present ?? null, after: next }];
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
