import { s, type Static, type TSchema } from '../../../base/schema.js';

/** Ages of what is open, by days since it was due. */
export const AGING_BUCKETS = ['not_due', 'd1_30', 'd31_60', 'd61_90', 'd90_plus'] as const;
export type AgingBucket = (typeof AGING_BUCKETS)[number];

/** What an analytics operation is asked. `displayCurrency` is the tenant's setting: amounts at the top are in it. */
export const AnalyticsInput = s.object({ subjectId: s.nullable(s.id()), displayCurrency: s.currency() });
export type AnalyticsInput = Static<typeof AnalyticsInput>;

export const AnalyticsQuery = s.object({ subjectId: s.optional(s.id('Only contracts of this subject company.')) });

/**
 * Sums of many lines pass what one amount may be, and red letters and refunds take away. Above 2^53 minor units it is
 * the nearest number that JSON has.
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
    'Currencies of the book that the amounts at the top leave out.',
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
  invoicedAmount: sum('Net of red letters, invoice records that name no line included.'),
  uninvoicedAmount: sum("Σ of what each line lacks, so that an invoice ahead of the plan hides no other line's."),
  collectionRate: ratio('Received on lines due up to today, each capped at its amount ÷ amount of those lines.'),
  dso: ratio('Days: outstanding ÷ billed in the last 90 days × 90.'),
  cei: ratio('Percent: (opening + billed − closing total) ÷ (opening + billed − closing current) × 100.'),
  avgDaysLate: ratio('Days, of lines paid in full, weighed by their amounts.'),
  atRiskAmount: sum('Open for more than 90 days after it was due.'),
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

/** Months of a cash flow: five back, this one, six ahead. */
export const MONTHS_BACK = 5;
export const MONTHS = 12;
const series = {
  series: s.list(
    s.object({
      period: s.text({ max: 7, about: '`YYYY-MM`' }),
      expectedAmount: sum('Amounts of lines due in the month.'),
      receivedAmount: sum('Money that came in the month, less what was given back or corrected in it.'),
      invoicedAmount: sum('Invoices dated in the month, less red letters.'),
      outstandingAmount: sum('What is open today of the lines due in the month.'),
      overdueAmount: sum('What of that was due before today.'),
    }),
    MONTHS,
  ),
};
export const AnalyticsCashflow = s.object(
  { ...frame, granularity: s.enum(['month']), from: s.day(), to: s.day(), ...series, byCurrency: perCurrency(series) },
  { title: 'AnalyticsCashflow' },
);
export type AnalyticsCashflow = Static<typeof AnalyticsCashflow>;

/** Of owners and subject companies those with most; the others come together under this key. */
export const MAX_SLICES = 100;
export const OTHER = 'other';
const slices = s.list(
  s.object({
    key: s.text({ max: 64 }),
    label: s.text(),
    count: count(),
    amount: sum(),
    outstandingAmount: sum(),
    share: ratio("Part of the list's amount, or of its count where every amount is 0."),
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
