import type { Day } from '../../base/day.js';
import { decimalsOf } from '../../base/money.js';
import type { PaymentStats } from '../contract/records/lines.js';

type Sum = 'amount' | 'received' | 'outstanding' | 'overdue' | 'dueSoon' | 'uninvoiced';
type Counts = PaymentStats['counts'];

/** The lines of one currency, counted, and added in minor units. */
export interface CurrencyFigures {
  readonly currencyCode: string;
  readonly counts: Counts;
  readonly sums: Readonly<Record<Sum, bigint>>;
}

/** Counts go over all currencies; amounts at the top are of one, because two currencies are never added. */
export function paymentStats(figures: readonly CurrencyFigures[], { today, currencyCode }: { today: Day; currencyCode: string }): PaymentStats {
  const headline = figures.find((figure) => figure.currencyCode === currencyCode);
  return {
    asOf: today,
    counts: figures.reduce((total, { counts }) => plus(total, counts), NONE),
    byCurrency: figures.map((figure) => ({ currencyCode: figure.currencyCode, ...major(figure) })),
    ...(headline ? major(headline) : NOTHING),
  };
}

const NONE: Counts = { due: 0, overdue: 0, dueSoon: 0, reconcile: 0, invoice: 0, paid: 0, partial: 0, unpaid: 0, all: 0 };
const NOTHING = { amount: 0, received: 0, outstanding: 0, overdue: 0, dueSoon: 0, uninvoiced: 0 };

const plus = (a: Counts, b: Counts): Counts => ({
  due: a.due + b.due,
  overdue: a.overdue + b.overdue,
  dueSoon: a.dueSoon + b.dueSoon,
  reconcile: a.reconcile + b.reconcile,
  invoice: a.invoice + b.invoice,
  paid: a.paid + b.paid,
  partial: a.partial + b.partial,
  unpaid: a.unpaid + b.unpaid,
  all: a.all + b.all,
});

function major({ sums, currencyCode }: CurrencyFigures): Record<Sum, number> {
  // Read as decimal text: a division would round twice where the sum is no safe integer.
  const number = (minor: bigint) => Number(`${minor}e-${decimalsOf(currencyCode)}`);
  return { amount: number(sums.amount), received: number(sums.received), outstanding: number(sums.outstanding), overdue: number(sums.overdue), dueSoon: number(sums.dueSoon), uninvoiced: number(sums.uninvoiced) };
}
