import type { Day } from '../../../base/day.js';
import { fail } from '../../../base/failures.js';
import type { Issue } from '../../../base/issue.js';
import { warn, type GivenWarning } from '../../../base/warnings.js';
import type { InvoicePatch } from '../../contract/records/invoices.js';
import type { InvoiceStatus } from '../../contract/vocabulary.js';
import type { InvoiceRow } from '../../tables/invoices.js';
import { uniqueKey } from '../unique-key.js';
import type { InvoiceContext } from './invoices.js';

/** What a request says of the red letter: its number and its date. */
export interface RedLetterFields {
  readonly redLetterNo?: string | null | undefined;
  readonly redLetterDate?: Day | null | undefined;
}
type Stamps = Pick<InvoiceContext, 'today' | 'now' | 'actorId'>;

/**
 * Reverses an issued record: the record stays, and a red letter cancels its amount, so that the figures of past months
 * do not change.
 */
export function reversal(
  row: InvoiceRow,
  { id, redLetterNo, redLetterDate }: RedLetterFields & { readonly id: string },
  { today, now, actorId }: Stamps,
): { readonly reversed: InvoiceRow; readonly counter: InvoiceRow } {
  const invoiceNo = redLetterNo || provisionalNo(row);
  const stamps = { createdAt: now, createdBy: actorId, updatedAt: now, updatedBy: actorId };
  return {
    reversed: { ...row, reversedById: id, updatedAt: now, updatedBy: actorId },
    counter: {
      ...row,
      id,
      invoiceNo,
      invoiceKey: uniqueKey(invoiceNo),
      invoiceDate: redLetterDate ?? later(today, row.invoiceDate),
      status: 'red_letter',
      attachment: null,
      note: null,
      fromLine: false,
      reversesId: row.id,
      reversedById: null,
      ...stamps,
    },
  };
}

/**
 * An existing red letter after a request that gives its number or date. Its number is final unless it is the
 * provisional one; its date is final unless the number is provisional or the date is today, which is the default. The
 * present values change nothing. `reversed` is the record that it reverses.
 */
export function correctedRedLetter(
  red: InvoiceRow,
  {
    asked,
    reversed,
    status,
    stamps: { today, now, actorId },
  }: {
    readonly asked: RedLetterFields;
    readonly reversed: InvoiceRow | undefined;
    /** That of the record in the request, for the refusal. */
    readonly status: InvoiceStatus;
    readonly stamps: Stamps;
  },
): InvoiceRow {
  const isProvisional = reversed !== undefined && red.invoiceNo === provisionalNo(reversed);
  const isDateOpen = isProvisional || (reversed !== undefined && red.invoiceDate === today);
  const invoiceNo = asked.redLetterNo || red.invoiceNo;
  const invoiceDate = asked.redLetterDate ?? red.invoiceDate;
  const fields = [
    ...(invoiceNo !== red.invoiceNo && !isProvisional ? ['redLetterNo'] : []),
    ...(invoiceDate !== red.invoiceDate && !isDateOpen ? ['redLetterDate'] : []),
  ];
  if (fields.length > 0) throw fail('INVOICE_FIXED', { fields, status });
  return invoiceNo === red.invoiceNo && invoiceDate === red.invoiceDate
    ? red
    : { ...red, invoiceNo, invoiceKey: uniqueKey(invoiceNo), invoiceDate, updatedAt: now, updatedBy: actorId };
}

/** Issues of the fields about the red letter. `invoiceDate` is the date of the record that it reverses, if known. */
export function redLetterIssues(
  patch: RedLetterFields & { readonly status?: InvoiceStatus | null | undefined },
  invoiceDate: Day | null | undefined,
): Issue[] {
  return [
    ...(['redLetterNo', 'redLetterDate'] as const)
      .filter((field) => patch[field] && patch.status !== 'red_letter')
      .map((path) => ({ path, problem: RED_LETTER_ONLY })),
    ...(patch.status === 'red_letter' && patch.redLetterDate && invoiceDate && patch.redLetterDate < invoiceDate
      ? [{ path: 'redLetterDate', problem: `must not be before invoiceDate, ${invoiceDate}` }]
      : []),
  ];
}

/** Warnings about a new red letter whose number or date the request leaves open. */
export function reversalWarnings(counter: InvoiceRow, asked: InvoicePatch): GivenWarning[] {
  const isDateMeant = asked.invoiceDate && !asked.redLetterDate && asked.invoiceDate !== counter.invoiceDate;
  return [
    ...(asked.redLetterNo
      ? []
      : [
          warn('RED_LETTER_NO_PROVISIONAL', {
            message: `The red letter has the provisional number ${counter.invoiceNo}: send the same request with redLetterNo to give it its own.`,
          }),
        ]),
    ...(isDateMeant
      ? [
          warn('RED_LETTER_DATE_DEFAULT', {
            message: `invoiceDate is the date of the reversed record; the red letter is dated ${counter.invoiceDate}. To give it another date, send redLetterDate today.`,
          }),
        ]
      : []),
  ];
}

/** Completes a sentence that begins with the name of the field. */
const RED_LETTER_ONLY = 'must be given with status red_letter only';

/** The number of a red letter until it is given its own. */
const provisionalNo = ({ invoiceNo }: InvoiceRow): string =>
  `${[...invoiceNo].slice(0, NUMBER_MAX - REVERSED.length).join('')}${REVERSED}`;

const REVERSED = '-R';
const NUMBER_MAX = 500;

const later = (day: Day, other: Day | null): Day => (other !== null && other > day ? other : day);
