import { addDays, type Day } from '../../data-plane-agent/base/day.js';
import type { PaymentLineInput, ReceiptPatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import type { Random } from './random.js';
import type { Life } from './shapes.js';
import type { Texts } from './texts.js';

/** A payment line as it is entered, and the receipts that are recorded on it after that: each a new total. */
export interface DemoLine {
  readonly input: PaymentLineInput;
  readonly later: readonly ReceiptPatch[];
}

export interface DuePart {
  readonly period: string;
  readonly dueDate: Day;
  /** In whole major units. */
  readonly amount: number;
}

export interface Customs {
  readonly random: Random;
  readonly today: Day;
  readonly life: Life;
  readonly payer: string;
  readonly account: string;
  readonly texts: Texts;
  /** Tells apart what banks and tax offices number. */
  readonly serial: number;
}

export type Habit = 'prompt' | 'slow' | 'bad';

/** What has become of a plan: paid, paid in parts, too little, too much or not at all, as its customer's habit is. */
export function demoLines(parts: readonly DuePart[], habit: Habit, customs: Customs): DemoLine[] {
  return parts.map((part, index) => {
    const outcome = outcomeOf(index, habit, customs);
    const [first, ...later] = receiptsOf(part, index, outcome, customs);
    return { input: { ...part, ...first, ...invoiceOf(part, index, outcome, customs) }, later };
  });
}

type Outcome = 'paid' | 'in parts' | 'corrected' | 'overpaid' | 'partial' | 'unpaid';

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

/** In how many of a hundred cases the last line due is still open, the one before it, and so on; older ones are settled. */
const OPEN: Readonly<Record<Habit, readonly number[]>> = { prompt: [12, 2], slow: [65, 30, 6, 1], bad: [90, 75, 55, 30, 12, 4] };

function receiptsOf({ amount, dueDate }: DuePart, index: number, outcome: Outcome, customs: Customs): ReceiptPatch[] {
  const { random, today, payer, account, texts, serial } = customs;
  if (outcome === 'unpaid') return [];
  const day = earlier(addDays(dueDate, random.between(-6, 12)), addDays(today, -random.between(1, 3)));
  const receipt = (receivedAmount: number, receivedDate: Day, transfer: number): ReceiptPatch => ({
    receivedAmount, receivedDate, method: texts.transfer, payerName: payer, receiptAccount: account,
    bankSerialNo: `T${String(serial * 1_000 + index * 10 + transfer).padStart(12, '0')}`,
  });
  const settled: Pick<ReceiptPatch, 'reconciliationStatus'> = { reconciliationStatus: random.percent(90) ? 'matched' : 'pending' };
  const share = Math.floor((amount * random.between(25, 70)) / 100);
  switch (outcome) {
    case 'paid':
      return [{ ...receipt(amount, day, 1), ...settled }];
    case 'in parts':
      return [receipt(share, addDays(day, -9), 1), { ...receipt(amount, day, 2), ...settled }];
    case 'partial':
      return [receipt(share, day, 1)];
    case 'corrected':
      return [receipt(amount * 10, day, 1), { ...receipt(amount, day, 1), reconciliationStatus: 'matched', reconciliationNote: texts.mistyped }];
    case 'overpaid':
      return [{ ...receipt(amount + Math.max(1, Math.floor((amount * random.between(2, 10)) / 100)), day, 1), reconciliationNote: texts.overpaid }];
  }
}

/** In how many of a hundred cases a line has an invoice. */
const INVOICED: Readonly<Record<Outcome, number>> = { paid: 93, 'in parts': 93, corrected: 93, overpaid: 95, partial: 75, unpaid: 60 };

function invoiceOf({ amount, dueDate }: DuePart, index: number, outcome: Outcome, { random, today, life, serial }: Customs): Partial<PaymentLineInput> {
  const ahead = index - life.past;
  // What is not due yet is rarely invoiced, and only for the next time.
  const chance = ahead > 0 || (ahead === 0 && life.stage !== 'active') ? 0 : ahead === 0 ? 20 : INVOICED[outcome];
  if (!random.percent(chance)) return {};
  return {
    invoiceAmount: random.percent(4) ? Math.floor(amount / 2) : amount,
    invoiceDate: earlier(addDays(dueDate, -random.between(3, 20)), addDays(today, -1)),
    invoiceNo: `25${String(serial * 1_000 + index).padStart(18, '0')}`,
  };
}

const earlier = (a: Day, b: Day): Day => (a < b ? a : b);
