import type { Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { taxIncluded, toMajor, unitPriceNumber } from '../../../base/money.js';
import type { Invoice, InvoiceInput, InvoicePatch } from '../../contract/records/invoices.js';
import type { InvoiceStatus } from '../../contract/vocabulary.js';
import type { AmountReader } from '../amounts.js';
import { uniqueKey } from '../unique-key.js';
import { iso } from '../../../base/instants.js';
import type { InvoiceChange, InvoiceRow } from '../../tables/invoices.js';
import { uninvoiced } from '../payments/receivable.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The allowed status changes. Void records and red letters are final. */
const INVOICE_MOVES: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  draft: ['issued', 'void'],
  issued: ['void', 'red_letter'],
  void: [],
  red_letter: [],
};

/** The context in which a record is created or changed. */
export interface InvoiceContext {
  readonly amounts: AmountReader;
  readonly contract: ContractRow;
  /** The line to which the record is linked after the change. */
  readonly line: LineRow | undefined;
  readonly today: Day;
  readonly now: number;
  readonly actorId: string | null;
}

/** A new record. */
export function newInvoice(
  input: InvoiceInput,
  id: string,
  { amounts, contract, line, today, now, actorId }: InvoiceContext,
): InvoiceRow {
  const currencyCode = line?.currencyCode ?? contract.currencyCode;
  const status = input.status ?? 'draft';
  return {
    id,
    contractId: contract.id,
    lineId: line?.id ?? null,
    receiptId: input.paymentRecordId ?? null,
    subjectId: contract.subjectId,
    invoiceNo: input.invoiceNo,
    invoiceKey: uniqueKey(input.invoiceNo),
    amountMinor: amounts.minor('invoiceAmount', input.invoiceAmount, currencyCode),
    currencyCode,
    invoiceDate: dated(status, input.invoiceDate ?? null, today),
    status,
    attachment: input.attachment ?? null,
    taxRate: taxRate(input.taxRate ?? null, { amounts, contract }),
    note: input.note ?? null,
    fromLine: false,
    reversesId: null,
    reversedById: null,
    createdAt: now,
    createdBy: actorId,
    updatedAt: now,
    updatedBy: actorId,
    deletedAt: null,
  };
}

/**
 * The record after a PATCH, except for a change to red letter, which creates another record. Only drafts can be changed
 * completely; when the currency changes, an amount that is not given keeps its number.
 */
export function patchedInvoice(
  row: InvoiceRow,
  patch: InvoicePatch,
  { amounts, contract, line, today, now, actorId }: InvoiceContext,
): InvoiceRow {
  const currencyCode = row.status === 'draft' ? (line?.currencyCode ?? contract.currencyCode) : row.currencyCode;
  const asked =
    patch.invoiceAmount ?? (currencyCode === row.currencyCode ? undefined : toMajor(row.amountMinor, row.currencyCode));
  const wanted = wantedStatus(row, patch);
  const status = wanted === 'red_letter' ? row.status : wanted;
  const invoiceNo = patch.invoiceNo ?? row.invoiceNo;
  const next: InvoiceRow = {
    ...row,
    lineId: line?.id ?? null,
    receiptId: given(patch.paymentRecordId, row.receiptId),
    invoiceNo,
    invoiceKey: uniqueKey(invoiceNo),
    amountMinor: asked === undefined ? row.amountMinor : amounts.minor('invoiceAmount', asked, currencyCode),
    currencyCode,
    invoiceDate: dated(status, given(patch.invoiceDate, row.invoiceDate), today),
    status,
    attachment: given(patch.attachment, row.attachment),
    taxRate: patch.taxRate === undefined ? row.taxRate : taxRate(patch.taxRate, { amounts, contract }),
    note: given(patch.note, row.note),
    updatedAt: now,
    updatedBy: actorId,
  };
  amounts.done();
  refuseFixed(row, next);
  return next;
}

/**
 * The requested status, if it is allowed. The present status is not a change, and a record that was reversed stays as
 * it is.
 */
export function wantedStatus(row: InvoiceRow, patch: Pick<InvoicePatch, 'status'>): InvoiceStatus {
  const to = patch.status === undefined ? row.status : (patch.status ?? 'draft');
  if (to === row.status || (to === 'red_letter' && row.reversedById !== null)) return row.status;
  const allowed = row.reversedById === null ? INVOICE_MOVES[row.status] : [];
  if (!allowed.includes(to))
    throw fail('INVALID_TRANSITION', { field: 'status', from: row.status, to, allowed: [...allowed] });
  return to;
}

/**
 * The invoiced amount net of red letters, in minor units; drafts and void records do not count. A reversed record still
 * counts with its amount.
 */
export const netInvoiced = (records: readonly InvoiceRow[]): number => issuedMinor(records) - redMinor(records);

export const issuedMinor = (records: readonly InvoiceRow[]): number => summed(records, 'issued');
export const redMinor = (records: readonly InvoiceRow[]): number => summed(records, 'red_letter');

const summed = (records: readonly InvoiceRow[], status: InvoiceStatus): number =>
  records.reduce((sum, record) => (record.status === status ? sum + record.amountMinor : sum), 0);

/** Whether a record counts: issued invoices and red letters. */
export const isStanding = ({ status }: Pick<InvoiceRow, 'status'>): boolean =>
  status === 'issued' || status === 'red_letter';

/**
 * The line with the totals of its live records. Once it has any, only records count; without any, its own invoice
 * amount does.
 */
export function withRecords(line: LineRow, records: readonly InvoiceRow[], now: number): LineRow {
  const invoicedMinor = records.length === 0 ? (line.invoiceMinor ?? 0) : netInvoiced(records);
  const next = {
    ...line,
    invoiceRecords: records.length,
    invoicesStanding: records.filter(isStanding).length,
    invoicedMinor,
  };
  const changed = (['invoiceRecords', 'invoicesStanding', 'invoicedMinor'] as const).some(
    (field) => next[field] !== line[field],
  );
  return changed ? { ...next, uninvoicedMinor: uninvoiced(next), updatedAt: now } : line;
}

/** The records after the changes, without deleted ones. */
export function afterChanges(
  records: readonly InvoiceRow[],
  changes: readonly InvoiceChange[],
  belongs: (row: InvoiceRow) => boolean,
): InvoiceRow[] {
  const changed = new Map(changes.map(({ after }) => [after.id, after]));
  const kept = records.filter(({ id }) => !changed.has(id));
  return [...kept, ...changed.values().filter((row) => row.deletedAt === null && belongs(row))];
}

/** Whether nothing changed: then nothing is written. */
export const isSameInvoice = (before: InvoiceRow, after: InvoiceRow): boolean =>
  (Object.keys(after) as (keyof InvoiceRow)[]).every(
    (field) => field === 'updatedAt' || field === 'updatedBy' || before[field] === after[field],
  );

export function invoiceAnswer(row: InvoiceRow): Invoice {
  const major = (minor: number) => toMajor(minor, row.currencyCode);
  const { tax, net } = row.taxRate === null ? { tax: null, net: null } : taxIncluded(row.amountMinor, row.taxRate);
  return {
    id: row.id,
    contractId: row.contractId,
    receivablePlanId: row.lineId,
    paymentRecordId: row.receiptId,
    invoiceNo: row.invoiceNo,
    invoiceAmount: major(row.amountMinor),
    currencyCode: row.currencyCode,
    invoiceDate: row.invoiceDate,
    status: row.status,
    attachment: row.attachment,
    taxRate: row.taxRate === null ? null : unitPriceNumber(row.taxRate),
    taxAmount: tax === null ? null : major(tax),
    netAmount: net === null ? null : major(net),
    note: row.note,
    reversesInvoiceId: row.reversesId,
    reversedByInvoiceId: row.reversedById,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** An issued document has a date. */
const dated = (status: InvoiceStatus, date: Day | null, today: Day): Day | null =>
  date ?? (isStanding({ status }) ? today : null);

/** The tax rate in percent; defaults to the contract's `invoicePoints`. */
function taxRate(
  percent: number | null,
  { amounts, contract }: Pick<InvoiceContext, 'amounts' | 'contract'>,
): string | null {
  if (percent !== null) return amounts.unitPrice('taxRate', percent);
  return contract.invoicePoints === null ? null : String(contract.invoicePoints);
}

/** The fields that can be changed on issued records, and on void, red-letter or reversed ones. */
const OPEN_FIELDS: readonly (keyof InvoiceRow)[] = ['attachment', 'note', 'receiptId'];
const CLOSED_FIELDS: readonly (keyof InvoiceRow)[] = ['attachment', 'note'];
const FIELD_NAMES = {
  lineId: 'receivablePlanId',
  receiptId: 'paymentRecordId',
  invoiceNo: 'invoiceNo',
  amountMinor: 'invoiceAmount',
  invoiceDate: 'invoiceDate',
  taxRate: 'taxRate',
} as const satisfies Partial<Record<keyof InvoiceRow, keyof InvoiceInput>>;

function refuseFixed(before: InvoiceRow, after: InvoiceRow): void {
  if (before.status === 'draft') return;
  const free = before.status === 'issued' && before.reversedById === null ? OPEN_FIELDS : CLOSED_FIELDS;
  const fixed = (Object.keys(FIELD_NAMES) as (keyof typeof FIELD_NAMES)[]).filter(
    (field) => !free.includes(field) && before[field] !== after[field],
  );
  if (fixed.length > 0)
    throw fail('INVOICE_FIXED', { fields: fixed.map((field) => FIELD_NAMES[field]), status: before.status });
}

/** `undefined` leaves a field as it is, `null` clears it. */
const given = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);
