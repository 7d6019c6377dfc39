import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { PaymentLineInput, ReceiptPatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import { earlier, type Customs, type DuePart, type Outcome } from './customs.js';
import { invoiceOnLine, invoicesOf, type DemoInvoice } from './invoices.js';

/**
 * A payment line as it is entered; the receipts that are recorded on it after that, each a new total; and its invoice
 * records.
 */
export interface DemoLine {
  readonly input: PaymentLineInput;
  readonly later: readonly ReceiptPatch[];
  readonly invoices: readonly DemoInvoice[];
}

export type Habit = 'prompt' | 'slow' | 'bad';

/** The payments of a plan: paid, in parts, too little, too much or not at all, as its customer pays. */
export function demoLines(parts: readonly DuePart[], habit: Habit, customs: Customs): DemoLine[] {
  return parts.map((part, index) => {
    const outcome = outcomeOf(index, habit, customs);
    const [first, ...later] = receiptsOf(part, { index, outcome, customs });
    return {
      input: { ...part, ...first, ...invoiceOnLine(part, { index, outcome, customs }) },
      later,
      invoices: invoicesOf(part, { index, outcome, customs }),
    };
  });
}

function outcomeOf(index: number, habit: Habit, { random, life }: Customs): Outcome {
  const age = life.past - index;
  const done = life.stage === 'completed' || life.stage === 'archived';
  if (life.stage === 'signed') return age > 0 ? 'paid' : 'unpaid';
  if (life.stage !== 'active' && !done) return 'unpaid';
  if (age === 0 && random.percent(4)) return random.percent(50) ? 'paid' : 'partial';
  if (age <= 0) return 'unpaid';
  if (!done && random.percent(OPEN[habit][age - 1] ?? 0)) return random.percent(35) ? 'partial' : 'unpaid';
  if (random.percent(2)) return 'overpaid';
  if (random.percent(2)) return 'corrected';
  return random.percent(6) ? 'in parts' : 'paid';
}

/**
 * In how many of a hundred cases the last line due is still open, the one before it, and so on; older ones are settled.
 */
const OPEN: Readonly<Record<Habit, readonly number[]>> = {
  prompt: [14, 2],
  slow: [65, 22, 3],
  bad: [90, 60, 30, 12, 4],
};

function receiptsOf(
  { amount, dueDate }: DuePart,
  { index, outcome, customs }: { readonly index: number; readonly outcome: Outcome; readonly customs: Customs },
): ReceiptPatch[] {
  const { random, today, payer, account, texts, serial } = customs;
  if (outcome === 'unpaid') return [];
  const day = earlier(addDays(dueDate, random.between(-6, 12)), addDays(today, -random.between(1, 3)));
  const receipt = (receivedAmount: number, receivedDate: Day, transfer: number): ReceiptPatch => ({
    receivedAmount,
    receivedDate,
    method: texts.transfer,
    payerName: payer,
    receiptAccount: account,
    bankSerialNo: `T${String(serial * 1_000 + index * 10 + transfer).padStart(12, '0')}`,
  });
  const settled: Pick<ReceiptPatch, 'reconciliationStatus'> = {
    reconciliationStatus: random.percent(90) ? 'matched' : 'pending',
  };
  const share = Math.floor((amount * random.between(25, 70)) / 100);
  switch (outcome) {
    case 'paid':
      return [{ ...receipt(amount, day, 1), ...settled }];
    case 'in parts':
      return [receipt(share, addDays(day, -9), 1), { ...receipt(amount, day, 2), ...settled }];
    case 'partial':
      return [receipt(share, day, 1)];
    case 'corrected':
      return [
        receipt(amount * 10, addDays(notFirst(day), -1), 1),
        { ...receipt(amount, notFirst(day), 1), reconciliationStatus: 'matched', reconciliationNote: texts.mistyped },
      ];
    case 'overpaid':
      return [
        {
          ...receipt(amount + Math.max(1, Math.floor((amount * random.between(2, 10)) / 100)), day, 1),
          reconciliationNote: texts.overpaid,
        },
      ];
  }
}

/**
 * A day whose day before is in the same month: what was mistyped and what put it right must not fall into two months.
 */
const notFirst = (day: Day): Day => (day.endsWith('-01') ? addDays(day, -1) : day);
