import { addDays } from '../../data-plane-agent/base/day.js';
import type { InvoiceInput } from '../../data-plane-agent/plane/contract/records/invoices.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { earlier, type Customs, type DuePart, type Outcome } from './customs.js';

/** An invoice record as it is entered, and the status it changes to. */
export interface DemoInvoice {
  readonly input: InvoiceInput & { readonly status: 'draft' | 'issued' };
  readonly turns?: 'void' | 'red_letter';
}

/**
 * Invoice data on the payment line itself, as in data taken over from older systems. The data plane creates an invoice
 * record from it.
 */
export function invoiceOnLine(
  part: DuePart,
  { index, outcome, customs }: { readonly index: number; readonly outcome: Outcome; readonly customs: Customs },
): Partial<PaymentLineInput> {
  if (isRecent(index, customs) || !isInvoiced(index, outcome, customs)) return {};
  const { invoiceNo, invoiceAmount, invoiceDate } = invoiceOf(part, index, customs);
  return { invoiceAmount, invoiceDate, invoiceNo };
}

/** Invoice records of the line that was due last and of the one that is due next. */
export function invoicesOf(
  part: DuePart,
  { index, outcome, customs }: { readonly index: number; readonly outcome: Outcome; readonly customs: Customs },
): DemoInvoice[] {
  const { random, life, texts } = customs;
  if (!isRecent(index, customs) || !isInvoiced(index, outcome, customs)) return [];
  const { invoiceDate, ...invoice } = invoiceOf(part, index, customs);
  const issued = { ...invoice, invoiceDate, status: 'issued' } as const;
  const again = { ...issued, invoiceNo: texts.invoiceNo(customs.serial * 1_000 + 500 + index) };
  // Invoices of lines that are not due yet are drafts, and some are issued.
  if (index === life.past) return [random.percent(60) ? { input: { ...invoice, status: 'draft' } } : { input: issued }];
  if (outcome === 'unpaid' && random.percent(15))
    return [
      { input: { ...issued, invoiceAmount: part.amount * 10, note: texts.invoiceMistyped }, turns: 'void' },
      { input: again },
    ];
  if (random.percent(5))
    return [{ input: { ...issued, note: texts.invoiceWrongBuyer }, turns: 'red_letter' }, { input: again }];
  return [{ input: issued }];
}

const isRecent = (index: number, { life }: Customs): boolean =>
  life.endedMonthsAgo === 0 && (index === life.past || index === life.past - 1);

/** In how many of a hundred cases a line has an invoice. */
const INVOICED: Readonly<Record<Outcome, number>> = {
  paid: 93,
  'in parts': 93,
  corrected: 93,
  overpaid: 95,
  partial: 75,
  unpaid: 60,
};

/** What is not due yet is rarely invoiced, and only for the next time. */
function isInvoiced(index: number, outcome: Outcome, { random, life }: Customs): boolean {
  const ahead = index - life.past;
  return random.percent(
    ahead > 0 || (ahead === 0 && life.stage !== 'active') ? 0 : ahead === 0 ? 30 : INVOICED[outcome],
  );
}

const invoiceOf = ({ amount, dueDate }: DuePart, index: number, { random, today, texts, serial }: Customs) => ({
  invoiceAmount: random.percent(4) ? Math.floor(amount / 2) : amount,
  invoiceDate: earlier(addDays(dueDate, -random.between(3, 20)), addDays(today, -1)),
  invoiceNo: texts.invoiceNo(serial * 1_000 + index),
});
