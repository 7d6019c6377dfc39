import { warn, type GivenWarning } from '../../../base/warnings.js';
import type { Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import { isAmountProblem, moneyText, sumMinor, toMajor } from '../../../base/money.js';
import type {
  InvoiceEvidencePatch,
  PaymentLineInput,
  PaymentLinePatch,
  ReceiptInput,
  ReceiptPatch,
} from '../../contract/records/lines.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { AmountReader } from '../amounts.js';
import { outstanding, overpaid, uninvoiced } from './receivable.js';
import { accountSent } from '../sensitive.js';

/** The context of a change of a line. `path` is the prefix of its field names: `''` or `payments[2].`. */
export interface LineContext {
  readonly amounts: AmountReader;
  readonly path: string;
  readonly today: Day;
  readonly now: number;
  /** The currency of the line's contract. */
  readonly contractCurrency: string;
  /** The amount invoiced on the contract but not linked to a line; it counts towards the same sum. */
  readonly unlinkedInvoicedMinor?: number;
}

/** A new line, including amounts already received or invoiced. */
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
 * The line with a changed period, due date, amount or currency. When the amount of a matched line changes, it must be
 * reconciled again. When the currency changes, an amount that is not given keeps its number: 100.00 CNY become 100 JPY.
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

/** A matched line must be reconciled again; a pending one becomes an exception when it is overpaid. */
const afterAnotherAmount = (
  status: LineRow['reconciliationStatus'],
  line: { readonly overpaid: boolean },
): LineRow['reconciliationStatus'] =>
  status === 'matched' ? 'pending' : status === 'pending' && line.overpaid ? 'exception' : status;

/** The line after a receipt was recorded. `receivedAmount` is the new total, so repeating a request changes nothing. */
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
    context.amounts.done(); // invalid amounts are reported first
    throw fail('RECONCILE_WITHOUT_RECEIPT', {});
  }
  // `null` removes a status set by a user, so that the rule applies again.
  const cleared = patch.reconciliationStatus === null || endsOverpayment(line, next);
  const automatic = automaticStatus(cleared ? { ...next, reconciliationStatus: 'pending' } : next, context);
  return { ...next, reconciliationStatus: named ?? (changed || cleared ? automatic : line.reconciliationStatus) };
}

/** Details of a receipt that a request for another receipt does not give: they are not those of the one before it. */
const NO_DETAILS = {
  method: null,
  payerName: null,
  receiptAccount: null,
  bankSerialNo: null,
  proof: null,
} as const satisfies ReceiptPatch;

/**
 * The line after an amount was added to what it had received. The new receipt has its own date, today by default, and
 * its own details, which the line then shows. The reconciliation belongs to the line.
 */
export function withAddedReceipt(line: LineRow, { amount, ...patch }: ReceiptInput, context: LineContext): LineRow {
  const { currencyCode, receivedMinor } = line;
  const addedMinor = context.amounts.minor(`${context.path}amount`, amount, currencyCode);
  const total = sumMinor([receivedMinor, addedMinor], currencyCode);
  if (isAmountProblem(total))
    context.amounts.refuse(`${context.path}amount`, `must leave the total received in bounds: it ${total.message}`);
  context.amounts.done();
  const receivedAmount = toMajor(isAmountProblem(total) ? receivedMinor : total, currencyCode);
  return withReceipt(line, { ...NO_DETAILS, ...patch, receivedAmount }, context);
}

/** The line with invoice fields. Once there are invoice records, the invoiced amount is net of red letters. */
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
    // Invoice records determine the invoiced amount; they are updated when the line is written.
    invoicedMinor: line.invoiceRecords > 0 ? line.invoicedMinor : (invoiceMinor ?? 0),
    updatedAt: context.now,
  });
}

/**
 * Refuses lines of a contract whose sums exceed the bounds, naming the field of the changed line, or `blame`. Only
 * lines in the contract's currency are added, as in the contract's totals.
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

/** Whether nothing changed: then nothing is written, and the record keeps its time and version. */
export const isUnchanged = (before: LineRow, after: LineRow): boolean =>
  (Object.keys(after) as (keyof LineRow)[]).every((field) => field === 'updatedAt' || before[field] === after[field]);

/** Whether a change affects fields that a lock protects: what is owed, and when. */
export const changesPlan = (before: LineRow, after: LineRow): boolean =>
  (['period', 'dueDate', 'amountMinor', 'currencyCode'] as const).some((field) => before[field] !== after[field]);

/** A line before and after a change; `before` is `null` for a new line. */
export interface ChangedLine {
  readonly before: LineRow | null;
  readonly after: LineRow;
}

/** Warnings about a receipt that is not refused. */
export function receiptWarnings({ before, after }: ChangedLine, today: Day): GivenWarning[] {
  const { id, currencyCode, receivedMinor, receivedDate } = after;
  const isLowered = before !== null && before.currencyCode === currencyCode && receivedMinor < before.receivedMinor;
  const needsNote = after.reconciliationStatus === 'exception' && after.reconciliationNote === null;
  return [
    ...(isLowered ? [loweredFrom(before, after)] : []),
    ...(receivedDate !== null && receivedDate > today
      ? [
          warn('DATE_IN_FUTURE', {
            message: `receivedDate is in the future: ${receivedDate} is after today, ${today}.`,
            paymentIds: [id],
            today,
          }),
        ]
      : []),
    ...(needsNote ? [warn('NOTE_RECOMMENDED', { message: whyNote(after) })] : []),
  ];
}

/** What a note should explain: the excess amount, if the line is overpaid. */
const whyNote = (line: LineRow): string =>
  overpaid(line) > 0
    ? `This line has received ${moneyText(overpaid(line), line.currencyCode)} more than its amount; say in reconciliationNote why, or what will be done.`
    : 'Say in reconciliationNote why this receipt is an exception.';

function loweredFrom(before: LineRow, { id, currencyCode, receivedMinor }: LineRow): GivenWarning {
  return warn('RECEIPT_LOWERED', {
    message:
      `The total received was lowered from ${moneyText(before.receivedMinor, currencyCode)} to ` +
      `${moneyText(receivedMinor, currencyCode)}: receivedAmount is the new total. ` +
      'To add an amount to what was received before, use POST /payments/:paymentId/receipts.',
    paymentIds: [id],
    formerAmount: toMajor(before.receivedMinor, currencyCode),
    receivedAmount: toMajor(receivedMinor, currencyCode),
    currencyCode,
  });
}

/** Warnings about invoiced amounts that exceed the line, or that no invoice record contains. */
export function invoiceWarnings(line: LineRow): GivenWarning[] {
  const isUncounted = line.invoiceRecords > 0 && line.invoiceNo === null && (line.invoiceMinor ?? 0) > 0;
  return [
    ...(line.invoicedMinor > line.amountMinor ? [warn('INVOICE_EXCEEDS_LINE', {})] : []),
    ...(isUncounted ? [warn('INVOICE_RECORDS_COUNT', {})] : []),
  ];
}

/** A warning about the date of an invoice, of a line or of a record of its own. */
export const invoiceDateWarnings = (
  { invoiceDate, invoiceNo }: { readonly invoiceDate: Day | null; readonly invoiceNo: string | null },
  today: Day,
): GivenWarning[] =>
  invoiceNo !== null && invoiceDate !== null && invoiceDate > today
    ? [
        warn('DATE_IN_FUTURE', {
          message: `The date of invoice ${invoiceNo} is in the future: ${invoiceDate} is after today, ${today}.`,
          today,
        }),
      ]
    : [];

/** Whether money was received or invoiced on the line, so that it cannot simply be deleted. */
export const hasMoney = (line: LineRow): boolean =>
  line.receivedMinor > 0 ||
  line.invoiceNo !== null ||
  (line.invoiceMinor ?? 0) > 0 ||
  line.invoicedMinor !== 0 ||
  line.invoicesStanding > 0;

/** Sets the open amounts, which the indexes of the payment tabs use. */
const settled = (line: LineRow): LineRow => ({
  ...line,
  outstandingMinor: outstanding(line),
  uninvoicedMinor: uninvoiced(line),
});

/** `undefined` leaves a field as it is, `null` clears it. */
const given = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);

/**
 * The date of the received amount; it always has one. `null` keeps the former date, so that repeating a request does
 * not change it.
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

/** Whether a line is an exception and no longer overpaid: then the exception ends with the overpayment. */
const endsOverpayment = (before: LineRow, after: LineRow): boolean =>
  before.reconciliationStatus === 'exception' && overpaid(before) > 0 && overpaid(after) === 0;

/** The reconciliation status after a changed total when the caller gives none. */
function automaticStatus(line: LineRow, { contractCurrency }: LineContext): LineRow['reconciliationStatus'] {
  if (line.receivedMinor === 0) return 'pending';
  if (overpaid(line) > 0 || line.currencyCode !== contractCurrency) return 'exception';
  return line.reconciliationStatus;
}
