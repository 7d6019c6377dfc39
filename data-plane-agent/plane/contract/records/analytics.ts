import { s, type Static, type TSchema } from '../../../base/schema.js';

/** Age classes of open amounts, by days since the due date. */
export const AGING_BUCKETS = ['not_due', 'd1_30', 'd31_60', 'd61_90', 'd90_plus'] as const;
export type AgingBucket = (typeof AGING_BUCKETS)[number];

/**
 * The input of analytics operations. `displayCurrency` is the tenant's setting, the currency of the top-level amounts.
 */
export const AnalyticsInput = s.object({ subjectId: s.nullable(s.id()), displayCurrency: s.currency() });
export type AnalyticsInput = Static<typeof AnalyticsInput>;

export const AnalyticsQuery = s.object({ subjectId: s.optional(s.id('Only contracts of this subject company.')) });

/**
 * Sums can exceed the maximum of a single amount, and red letters and refunds can make them negative. Above 2^53 minor
 * units they are rounded to the nearest JSON number.
 */
const sum = (about?: string) => s.number({ min: -1e24, max: 1e24, ...(about === undefined ? {} : { about }) });
const count = (about?: string) => s.integer(about === undefined ? {} : { about });
const ratio = (about: string) => s.nullable(s.number({ min: -1e24, max: 1e24, about }));

const MAX_CURRENCIES = 200;
const frame = {
  asOf: s.day("The day in the tenant's time zone against which due dates were compared."),
  timezone: s.text({ max: 64 }),
  subjectId: s.nullable(s.id()),
  currencyCode: s.currency(),
  excludedCurrencies: s.list(
    s.currency(),
    MAX_CURRENCIES,
    'Currencies that occur in contracts but are not included in the top-level amounts.',
  ),
};
const perCurrency = <P extends Record<string, TSchema>>(properties: P) =>
  s.list(s.object({ currencyCode: s.currency(), ...properties }), MAX_CURRENCIES);

const headline = {
  contractCount: count(),
  activeContractCount: count('Contracts whose `status` is `in_progress`.'),
  completedContractCount: count('Contracts whose `status` is `completed`.'),
  contractAmount: sum('Σ `totalAmount` of contracts.'),
  receivableAmount: sum('Σ `amount` of payment lines.'),
  receivedAmount: sum(),
  outstandingAmount: sum(),
  overdueAmount: sum(),
  overdueCount: count('Payment lines.'),
  dueSoonAmount: sum(),
  dueSoonCount: count('Payment lines.'),
  invoicedAmount: sum('Net of red letters; includes invoice records without a payment line.'),
  uninvoicedAmount: sum('Σ of the uninvoiced amount of each line; an over-invoiced line does not reduce it.'),
  collectionRate: ratio('Received on lines due up to today, each capped at its amount, ÷ total amount of those lines.'),
  dso: ratio(
    'Days: outstanding ÷ billed in the last 90 days × 90. `null` if nothing was billed or if it would exceed 999 days, because too little was billed.',
  ),
  cei: ratio(
    'Percent: (opening + billed − closing total) ÷ (opening + billed − closing current) × 100. `null` if the divisor is not above 0.',
  ),
  avgDaysLate: ratio(
    'Average days late of the lines paid in full, weighted by amount. `null` if no line is paid in full.',
  ),
  atRiskAmount: sum('Outstanding for more than 90 days after the due date.'),
  aging: s.list(
    s.object({ bucket: s.enum(AGING_BUCKETS), count: count('Open payment lines.'), amount: sum('Outstanding.') }),
    AGING_BUCKETS.length,
  ),
};
export const AnalyticsSummary = s.object(
  { ...frame, ...headline, byCurrency: perCurrency(headline) },
  { title: 'AnalyticsSummary' },
);
export type AnalyticsSummary = Static<typeof AnalyticsSummary>;

/** The months of a cash flow: five past, the current one, six future. */
export const MONTHS_BACK = 5;
export const MONTHS = 12;
const series = {
  series: s.list(
    s.object({
      period: s.text({ max: 7, about: '`YYYY-MM`' }),
      expectedAmount: sum('Amounts of lines due in the month.'),
      receivedAmount: sum('Money received in the month, less refunds and corrections.'),
      invoicedAmount: sum('Invoices dated in the month, less red letters.'),
      outstandingAmount: sum('The amount outstanding today of the lines due in the month.'),
      overdueAmount: sum('The part of outstandingAmount that was due before today.'),
    }),
    MONTHS,
  ),
};
export const AnalyticsCashflow = s.object(
  { ...frame, granularity: s.enum(['month']), from: s.day(), to: s.day(), ...series, byCurrency: perCurrency(series) },
  { title: 'AnalyticsCashflow' },
);
export type AnalyticsCashflow = Static<typeof AnalyticsCashflow>;

/** Owners and subject companies with the highest amounts are listed; the others are combined under the key `OTHER`. */
export const MAX_SLICES = 100;
export const OTHER = 'other';
const slices = s.list(
  s.object({
    key: s.text({ max: 64 }),
    label: s.text(),
    count: count(),
    amount: sum(),
    outstandingAmount: sum(),
    share: ratio("Share of the list's total amount, or of its count if all amounts are 0."),
  }),
  MAX_SLICES + 1,
);
const facets = {
  byType: slices,
  byStatus: slices,
  byStage: slices,
  byOwner: slices,
  bySubject: slices,
  byPaymentStatus: slices,
  byAging: slices,
};
export const AnalyticsDistribution = s.object(
  { ...frame, ...facets, byCurrency: perCurrency(facets) },
  { title: 'AnalyticsDistribution' },
);
export type AnalyticsDistribution = Static<typeof AnalyticsDistribution>;
export type Facets = Omit<AnalyticsDistribution['byCurrency'][number], 'currencyCode'>;
export type Slice = Facets['byType'][number];
