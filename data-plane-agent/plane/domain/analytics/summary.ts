import { addDays, type Day } from '../../../base/day.js';
import { sumToMajor } from '../../../base/money.js';
import { AGING_BUCKETS, type AgingBucket, type AnalyticsSummary } from '../../contract/records/analytics.js';
import type { ContractStatus } from '../../contract/vocabulary.js';
import { frameOf, scaled, type Asked } from './analytics.js';
import { currenciesOf, ofCurrency, total } from './figures.js';
import type { Tallies, Tally } from './tallies.js';

/** The figures of days that a summary needs. */
export const SUMMARY_COUNTS = ['lines', 'paid'] as const;
export const SUMMARY_SUMS = [
  'amount',
  'received',
  'outstanding',
  'uninvoiced',
  'settled',
  'late',
  'receipts',
  'invoices',
] as const;
export interface SummarySegment {
  readonly currencyCode: string;
  readonly index: number;
  readonly figures: Readonly<Record<(typeof SUMMARY_COUNTS)[number] | (typeof SUMMARY_SUMS)[number], bigint>>;
}
/** The number of days, ending today, over which DSO and CEI are computed. */
const PERIOD = 90n;
/** A longer DSO is not stated: too little was billed in the period for it to be meaningful. In days. */
const LONGEST_DSO = 999n;

/** The cuts between aging buckets, the period and the reminder window. */
export const summaryCuts = ({
  today,
  reminderLeadDays,
}: {
  readonly today: Day;
  readonly reminderLeadDays: number;
}): Day[] => [-90, -89, -60, -30, 0, 1, reminderLeadDays + 1].map((days) => addDays(today, days));

/** The aging bucket of each segment between these cuts, and the periods that it belongs to. */
const SEGMENTS: readonly {
  readonly bucket: AgingBucket;
  readonly isDue: boolean;
  readonly isSoon: boolean;
  readonly isInPeriod: boolean;
}[] = [
  { bucket: 'd90_plus', isDue: true, isSoon: false, isInPeriod: false },
  { bucket: 'd61_90', isDue: true, isSoon: false, isInPeriod: false }, // the ninetieth day before today is outside the period
  { bucket: 'd61_90', isDue: true, isSoon: false, isInPeriod: true },
  { bucket: 'd31_60', isDue: true, isSoon: false, isInPeriod: true },
  { bucket: 'd1_30', isDue: true, isSoon: false, isInPeriod: true },
  { bucket: 'not_due', isDue: true, isSoon: true, isInPeriod: true }, // today
  { bucket: 'not_due', isDue: false, isSoon: true, isInPeriod: false },
  { bucket: 'not_due', isDue: false, isSoon: false, isInPeriod: false },
];

export function analyticsSummary(
  { segments, tallies }: { readonly segments: readonly SummarySegment[]; readonly tallies: Pick<Tallies, 'status'> },
  asked: Asked,
): AnalyticsSummary {
  const states = tallies.status;
  const currencies = currenciesOf(
    segments.filter(({ figures }) => figures.lines > 0n),
    states.filter(({ contracts }) => contracts > 0),
  );
  const byCurrency = currencies.map((code) => {
    const own = { segments: ofCurrency(segments, code), states: ofCurrency(states, code) };
    return {
      currencyCode: code,
      ...countsOf(own),
      ...amountsOf(own, code),
      aging: aging(own.segments, own.segments, code),
    };
  });
  const shown = {
    segments: ofCurrency(segments, asked.displayCurrency),
    states: ofCurrency(states, asked.displayCurrency),
  };
  return {
    ...frameOf(asked, currencies),
    ...countsOf({ segments, states }),
    ...amountsOf(shown, asked.displayCurrency),
    aging: aging(segments, shown.segments, asked.displayCurrency),
    byCurrency,
  };
}

interface Figures {
  readonly segments: readonly SummarySegment[];
  /** Contracts by status. */
  readonly states: readonly Tally[];
}

const within = (segments: readonly SummarySegment[], part: 'isDue' | 'isSoon' | 'isInPeriod') =>
  segments.filter(({ index }) => SEGMENTS[index]?.[part]);
const aged = (segments: readonly SummarySegment[], bucket: AgingBucket) =>
  segments.filter(({ index }) => SEGMENTS[index]?.bucket === bucket);
const overdue = (segments: readonly SummarySegment[]) =>
  segments.filter(({ index }) => SEGMENTS[index]?.bucket !== 'not_due');
const open = ({ figures }: SummarySegment): bigint => figures.lines - figures.paid;
const outstanding = ({ figures }: SummarySegment): bigint => figures.outstanding;

function countsOf({ segments, states }: Figures) {
  const contracts = (status?: ContractStatus) =>
    states.reduce((sum, state) => (status === undefined || state.key === status ? sum + state.contracts : sum), 0);
  return {
    contractCount: contracts(),
    activeContractCount: contracts('in_progress'),
    completedContractCount: contracts('completed'),
    overdueCount: Number(total(overdue(segments), open)),
    dueSoonCount: Number(total(within(segments, 'isSoon'), open)),
  };
}

function amountsOf({ segments, states }: Figures, code: string) {
  const sum = (name: (typeof SUMMARY_SUMS)[number], of: readonly SummarySegment[] = segments) =>
    total(of, ({ figures }) => figures[name]);
  const amount = (minor: bigint) => sumToMajor(minor, code);
  const due = within(segments, 'isDue');
  const period = within(segments, 'isInPeriod');
  const left = sum('outstanding');
  const late = sum('outstanding', overdue(segments));
  // Billed is the invoiced amount; without invoices it is the amount due by plan.
  const invoiced = sum('invoices', period);
  const billed = invoiced > 0n ? invoiced : sum('amount', period);
  // The receivables at the start of the period, by roll-forward: outstanding plus received minus billed.
  const received = sum('receipts', period);
  const opening = left + received - billed;
  return {
    contractAmount: amount(total(states, (state) => state.total)),
    receivableAmount: amount(sum('amount')),
    receivedAmount: amount(sum('received')),
    outstandingAmount: amount(left),
    overdueAmount: amount(late),
    dueSoonAmount: amount(sum('outstanding', within(segments, 'isSoon'))),
    invoicedAmount: amount(sum('invoices')),
    uninvoicedAmount: amount(sum('uninvoiced')),
    // The amount less the outstanding amount is the amount received, without overpayments.
    collectionRate: scaled(sum('amount', due) - sum('outstanding', due), sum('amount', due)),
    dso: left * PERIOD > billed * LONGEST_DSO ? null : scaled(left, billed, PERIOD),
    // The current part of receivables is not yet due.
    cei: scaled(opening + billed - left, opening + billed - (left - late), 100n),
    avgDaysLate: scaled(sum('late'), sum('settled')),
    atRiskAmount: amount(total(aged(segments, 'd90_plus'), outstanding)),
  };
}

/** Counts may cover all currencies; amounts cover one. */
const aging = (counted: readonly SummarySegment[], added: readonly SummarySegment[], code: string) =>
  AGING_BUCKETS.map((bucket) => ({
    bucket,
    count: Number(total(aged(counted, bucket), open)),
    amount: sumToMajor(total(aged(added, bucket), outstanding), code),
  }));
