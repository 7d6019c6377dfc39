import { warn, type GivenWarning } from '../../../base/warnings.js';
import type { Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { toMajor } from '../../../base/money.js';
import type {
  InvoiceEvidencePatch,
  PaymentLineInput,
  PaymentLinePatch,
  ReceiptPatch,
} from '../../contract/records/lines.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { AmountReader } from '../amounts.js';
import { outstanding, overpaid, uninvoiced } from './receivable.js';
import { accountSent } from '../sensitive.js';

/** Under what a line changes. `path` begins the names of bad fields: `''` or `payments[2].`. */
export interface LineContext {
  readonly amounts: AmountReader;
  readonly path: string;
  readonly today: Day;
  readonly now: number;
  /** The currency of the line's contract. */
  readonly contractCurrency: string;
  /** What is invoiced on the contract beside its lines: it stands in the same sum. */
  readonly unlinkedInvoicedMinor?: number;
}

/** A line as it is entered, with what was already received or invoiced on it. */
export function newLine(
  input: PaymentLineInput,
  place: { id: string; contractId: string; position: number },
  context: LineContext,
): LineRow {
  const currencyCode = input.currencyCode ?? context.contractCurrency;
  const blank: LineRow = {
    ...place,
    period: input.period,
    dueDate: input.dueDate,
    amountMinor: context.amounts.minor(`${context.path}amount`, input.amount, currencyCode),
    currencyCode,
    receivedMinor: 0,
    outstandingMinor: 0,
    receivedDate: null,
    method: null,
    payerName: null,
    receiptAccount: null,
    bankSerialNo: null,
    reconciliationStatus: 'pending',
    reconciliationNote: null,
    proof: null,
    invoiceMinor: null,
    invoiceDate: null,
    invoiceNo: null,
    invoiceAttachment: null,
    invoicedMinor: 0,
    uninvoicedMinor: 0,
    invoiceRecords: 0,
    invoicesStanding: 0,
    createdAt: context.now,
    updatedAt: context.now,
    deletedAt: null,
  };
  return withInvoice(withReceipt(settled(blank), input, context), input, context);
}

/**
 * The line with another period, due date, amount or currency. An amount that changes under a matched receipt must be
 * matched again. Under another currency an amount that is not given keeps its number: 100.00 CNY become 100 JPY.
 */
export function withPlan(
  line: LineRow,
  patch: Pick<PaymentLinePatch, 'period' | 'dueDate' | 'amount' | 'currencyCode'>,
  context: LineContext,
): LineRow {
  const currencyCode =
    patch.currencyCode === undefined ? line.currencyCode : (patch.currencyCode ?? context.contractCurrency);
  const asked =
    patch.amount ?? (currencyCode === line.currencyCode ? undefined : toMajor(line.amountMinor, line.currencyCode));
  const amountMinor =
    asked === undefined ? line.amountMinor : context.amounts.minor(`${context.path}amount`, asked, currencyCode);
  const { receivedMinor, reconciliationStatus } = line;
  const changes = amountMinor !== line.amountMinor;
  return settled({
    ...line,
    period: patch.period ?? line.period,
    dueDate: patch.dueDate ?? line.dueDate,
    amountMinor,
    currencyCode,
    reconciliationStatus: changes
      ? afterAnotherAmount(reconciliationStatus, { overpaid: overpaid({ amountMinor, receivedMinor }) > 0 })
      : reconciliationStatus,
    updatedAt: context.now,
  });
}

/** Who had matched the money has to look again; what nobody has looked at is an exception once it is too much. */
const afterAnotherAmount = (
  status: LineRow['reconciliationStatus'],
  line: { readonly overpaid: boolean },
): LineRow['reconciliationStatus'] =>
  status === 'matched' ? 'pending' : status === 'pending' && line.overpaid ? 'exception' : status;

/**
 * The line after a receipt was told. `receivedAmount` is the new total, so that the same request twice changes nothing.
 */
export function withReceipt(line: LineRow, patch: ReceiptPatch, context: LineContext): LineRow {
  const receivedMinor =
    patch.receivedAmount === undefined
      ? line.receivedMinor
      : (context.amounts.optional(`${context.path}receivedAmount`, patch.receivedAmount, line.currencyCode) ?? 0);
  const changed = receivedMinor !== line.receivedMinor;
  const next = settled({
    ...line,
    receivedMinor,
    receivedDate: receivedDate({ line, receivedMinor, given: patch.receivedDate, today: context.today }),
    method: given(patch.method, line.method),
    payerName: given(patch.payerName, line.payerName),
    receiptAccount: given(
      accountSent(patch.receiptAccount, line.receiptAccount, (problem) =>
        context.amounts.refuse(`${context.path}receiptAccount`, problem),
      ),
      line.receiptAccount,
    ),
    bankSerialNo: given(patch.bankSerialNo, line.bankSerialNo),
    reconciliationNote: given(patch.reconciliationNote, line.reconciliationNote),
    proof: given(patch.proof, line.proof),
    updatedAt: context.now,
  });
  const named = patch.reconciliationStatus ?? undefined;
  if (named === 'matched' && receivedMinor === 0) {
    context.amounts.done(); // an amount that could not be read is no refusal to reconcile
    throw fail('RECONCILE_WITHOUT_RECEIPT', {});
  }
  // `null` clears what somebody had named, so that the rule decides again.
  const cleared = patch.reconciliationStatus === null;
  const automatic = automaticStatus(cleared ? { ...next, reconciliationStatus: 'pending' } : next, context);
  return { ...next, reconciliationStatus: named ?? (changed || cleared ? automatic : line.reconciliationStatus) };
}

/** The line with invoice evidence; what is invoiced is net of red letters once there are invoice records. */
export function withInvoice(line: LineRow, patch: InvoiceEvidencePatch, context: LineContext): LineRow {
  const invoiceMinor =
    patch.invoiceAmount === undefined
      ? line.invoiceMinor
      : context.amounts.optional(`${context.path}invoiceAmount`, patch.invoiceAmount, line.currencyCode);
  return settled({
    ...line,
    invoiceMinor,
    invoiceDate: given(patch.invoiceDate, line.invoiceDate),
    invoiceNo: given(patch.invoiceNo, line.invoiceNo),
    invoiceAttachment: given(patch.invoiceAttachment, line.invoiceAttachment),
    // Once there are records they alone say what is invoiced, and follow the line where it is written.
    invoicedMinor: line.invoiceRecords > 0 ? line.invoicedMinor : (invoiceMinor ?? 0),
    updatedAt: context.now,
  });
}

/**
 * Refuses lines of one contract whose sums no longer fit, by the field of a line that brought them there, or by
 * `blame`. They stand in the contract's headline, so only those in its currency are added.
 */
export function checkSums(
  lines: readonly LineRow[],
  {
    amounts,
    contractCurrency,
    unlinkedInvoicedMinor = 0,
    blame,
  }: Pick<LineContext, 'amounts' | 'contractCurrency' | 'unlinkedInvoicedMinor'> & { readonly blame?: string },
): void {
  const own = lines.filter(({ currencyCode }) => currencyCode === contractCurrency);
  amounts.fits(
    blame ?? 'amount',
    own.map(({ amountMinor }) => amountMinor),
    contractCurrency,
  );
  amounts.fits(
    blame ?? 'receivedAmount',
    own.map(({ receivedMinor }) => receivedMinor),
    contractCurrency,
  );
  amounts.fits(
    blame ?? 'invoiceAmount',
    [...own.map(({ invoicedMinor }) => invoicedMinor), unlinkedInvoicedMinor],
    contractCurrency,
  );
}

/** Whether a change left everything as it was: then nothing is written, and the record keeps its time and version. */
export const isUnchanged = (before: LineRow, after: LineRow): boolean =>
  (Object.keys(after) as (keyof LineRow)[]).every((field) => field === 'updatedAt' || before[field] === after[field]);

/** Whether a change touches what a lock protects: what is owed, and when. */
export const changesPlan = (before: LineRow, after: LineRow): boolean =>
  (['period', 'dueDate', 'amountMinor', 'currencyCode'] as const).some((field) => before[field] !== after[field]);

/** What deserves a look after a receipt, but is not refused. */
export function receiptWarnings(line: LineRow): GivenWarning[] {
  if (line.reconciliationStatus !== 'exception' || line.reconciliationNote !== null) return [];
  return [warn('NOTE_RECOMMENDED', { message: 'Say in reconciliationNote why this receipt is an exception.' })];
}

/** An invoice ahead of the plan happens, and is not refused; nor is an amount that no record carries. */
export function invoiceWarnings(line: LineRow): GivenWarning[] {
  const isUncounted = line.invoiceRecords > 0 && line.invoiceNo === null && (line.invoiceMinor ?? 0) > 0;
  return [
    ...(line.invoicedMinor > line.amountMinor ? [warn('INVOICE_EXCEEDS_LINE', {})] : []),
    ...(isUncounted ? [warn('INVOICE_RECORDS_COUNT', {})] : []),
  ];
}

/** Whether anything was received on the line, or an invoice stands against it: then it cannot simply be removed. */
export const hasMoney = (line: LineRow): boolean =>
  line.receivedMinor > 0 ||
  line.invoiceNo !== null ||
  (line.invoiceMinor ?? 0) > 0 ||
  line.invoicedMinor !== 0 ||
  line.invoicesStanding > 0;

/** Keeps what is left of a line beside it, where the indexes of the tabs read it. */
const settled = (line: LineRow): LineRow => ({
  ...line,
  outstandingMinor: outstanding(line),
  uninvoicedMinor: uninvoiced(line),
});

/** `undefined` leaves a field as it is, `null` clears it. */
const given = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);

/**
 * Money that is there has a date. `null` names none: else the same request twice would clear the date that the first
 * one set.
 */
function receivedDate({
  line,
  receivedMinor,
  given: day,
  today,
}: {
  line: LineRow;
  receivedMinor: number;
  given: Day | null | undefined;
  today: Day;
}): Day | null {
  if (receivedMinor === 0) return null;
  if (day !== undefined && day !== null) return day;
  return receivedMinor > line.receivedMinor ? today : line.receivedDate;
}

/** The status that a changed total brings when the caller names none. */
function automaticStatus(line: LineRow, { contractCurrency }: LineContext): LineRow['reconciliationStatus'] {
  if (line.receivedMinor === 0) return 'pending';
  if (overpaid(line) > 0 || line.currencyCode !== contractCurrency) return 'exception';
  return line.reconciliationStatus;
}
