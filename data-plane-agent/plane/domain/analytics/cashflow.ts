import { addDays, addMonths, type Day } from '../../../base/day.js';
import { sumToMajor } from '../../../base/money.js';
import { MONTHS, MONTHS_BACK, type AnalyticsCashflow } from '../../contract/records/analytics.js';
import { frameOf, type Asked } from './analytics.js';
import { currenciesOf, ofCurrency, total } from './figures.js';

/** The figures of days that a cash flow needs. */
export const CASHFLOW_COUNTS = ['lines'] as const;
export const CASHFLOW_SUMS = ['amount', 'outstanding', 'receipts', 'invoices'] as const;
export interface CashflowSegment {
  readonly currencyCode: string;
  readonly index: number;
  readonly figures: Readonly<Record<(typeof CASHFLOW_COUNTS)[number] | (typeof CASHFLOW_SUMS)[number], bigint>>;
}

/** The first days of all months and of the month after the last, and today: open amounts due before it are overdue. */
export function cashflowCuts({ today }: { readonly today: Day }): Day[] {
  return [...firstDays(today), today].toSorted();
}

const firstDays = (today: Day): Day[] =>
  Array.from({ length: MONTHS + 1 }, (_, n) => addMonths(`${today.slice(0, 7)}-01`, n - MONTHS_BACK));

export function analyticsCashflow(segments: readonly CashflowSegment[], asked: Asked): AnalyticsCashflow {
  const days = firstDays(asked.today);
  const currencies = currenciesOf(segments.filter(({ figures }) => figures.lines > 0n));
  return {
    ...frameOf(asked, currencies),
    granularity: 'month',
    from: days[0] ?? asked.today,
    to: addDays(days[MONTHS] ?? asked.today, -1),
    series: seriesOf(ofCurrency(segments, asked.displayCurrency), asked.displayCurrency, asked.today),
    byCurrency: currencies.map((code) => ({
      currencyCode: code,
      series: seriesOf(ofCurrency(segments, code), code, asked.today),
    })),
  };
}

/**
 * The monthly series. Index 0 is everything before the first month. The current month has two segments, before today
 * and from today on; the first is empty on the first day of the month.
 */
function seriesOf(segments: readonly CashflowSegment[], code: string, today: Day): AnalyticsCashflow['series'] {
  return firstDays(today)
    .slice(0, MONTHS)
    .map((first, n) => {
      const from = n <= MONTHS_BACK ? n + 1 : n + 2;
      const own = segments.filter(({ index }) => index === from || (n === MONTHS_BACK && index === from + 1));
      const past = segments.filter(({ index }) => n <= MONTHS_BACK && index === from);
      const sum = (name: (typeof CASHFLOW_SUMS)[number], of = own) =>
        sumToMajor(
          total(of, ({ figures }) => figures[name]),
          code,
        );
      return {
        period: first.slice(0, 7),
        expectedAmount: sum('amount'),
        receivedAmount: sum('receipts'),
        invoicedAmount: sum('invoices'),
        outstandingAmount: sum('outstanding'),
        overdueAmount: sum('outstanding', past),
      };
    });
}
