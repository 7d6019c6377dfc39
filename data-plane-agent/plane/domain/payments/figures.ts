import { addDays, type Day } from '../../../base/day.js';
import { sumToMajor } from '../../../base/money.js';
import type { PaymentStats } from '../../contract/records/lines.js';
import { currenciesOf, ofCurrency, total } from '../analytics/figures.js';

type Sum = 'amount' | 'received' | 'outstanding' | 'overdue' | 'dueSoon' | 'uninvoiced';
type Counts = PaymentStats['counts'];

/** Counts and sums, in minor units, of the lines of one currency due between two cuts. */
export interface LineFigures {
  readonly currencyCode: string;
  /** 0: due before today; 1: due in the reminder window; 2: due later. */
  readonly index: number;
  readonly figures: Readonly<
    Record<
      'lines' | 'to_invoice' | 'paid' | 'partial' | 'reconcile' | 'amount' | 'received' | 'outstanding' | 'uninvoiced',
      bigint
    >
  >;
}

/** Today, and the day after the reminder window, which includes both its ends. */
export const statsCuts = ({
  today,
  reminderLeadDays,
}: {
  readonly today: Day;
  readonly reminderLeadDays: number;
}): Day[] => [today, addDays(today, reminderLeadDays + 1)];

/**
 * Counts cover all currencies; amounts at the top level cover one, since amounts of different currencies are never
 * added.
 */
export function paymentStats(
  segments: readonly LineFigures[],
  { today, currencyCode }: { today: Day; currencyCode: string },
): PaymentStats {
  const of = (code: string) => amounts(ofCurrency(segments, code), code);
  const currencies = currenciesOf(segments.filter(({ figures }) => figures.lines > 0n));
  return {
    asOf: today,
    counts: counts(segments),
    byCurrency: currencies.map((code) => ({ currencyCode: code, ...of(code) })),
    ...of(currencyCode),
  };
}

const OVERDUE = 0;
const SOON = 1;

function counts(segments: readonly LineFigures[]): Counts {
  const count = (of: (figures: LineFigures['figures']) => bigint, which: (index: number) => boolean = () => true) =>
    Number(
      total(
        segments.filter(({ index }) => which(index)),
        ({ figures }) => of(figures),
      ),
    );
  const open = ({ lines, paid }: LineFigures['figures']) => lines - paid;
  return {
    due: count(open, (index) => index > OVERDUE),
    overdue: count(open, (index) => index === OVERDUE),
    dueSoon: count(open, (index) => index === SOON),
    reconcile: count(({ reconcile }) => reconcile),
    invoice: count(({ to_invoice }) => to_invoice),
    paid: count(({ paid }) => paid),
    partial: count(({ partial }) => partial),
    unpaid: count(({ lines, paid, partial }) => lines - paid - partial),
    all: count(({ lines }) => lines),
  };
}

function amounts(segments: readonly LineFigures[], currencyCode: string): Record<Sum, number> {
  const sum = (name: 'amount' | 'received' | 'outstanding' | 'uninvoiced', only?: number) =>
    sumToMajor(
      total(
        segments.filter(({ index }) => only === undefined || only === index),
        ({ figures }) => figures[name],
      ),
      currencyCode,
    );
  return {
    amount: sum('amount'),
    received: sum('received'),
    outstanding: sum('outstanding'),
    overdue: sum('outstanding', OVERDUE),
    dueSoon: sum('outstanding', SOON),
    uninvoiced: sum('uninvoiced'),
  };
}
