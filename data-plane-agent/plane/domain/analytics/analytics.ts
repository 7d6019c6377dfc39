import { addDays, type Day } from '../../../base/day.js';
import { ratio } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import type { AgingBucket, AnalyticsInput } from '../../contract/records/analytics.js';

/** What an answer of analytics is made for. */
export type Asked = AnalyticsInput & Pick<Call, 'today' | 'timeZone' | 'reminderLeadDays' | 'language'>;

/** How the answers begin. `currencies` are those of the book, in order. */
export const frameOf = ({ today, timeZone, subjectId, displayCurrency }: Asked, currencies: readonly string[]) => ({
  asOf: today,
  timezone: timeZone,
  subjectId,
  currencyCode: displayCurrency,
  excludedCurrencies: currencies.filter((code) => code !== displayCurrency),
});

/** Where one age ends and the next begins. */
export const agingCuts = ({ today }: { readonly today: Day }): Day[] =>
  [-90, -60, -30, 0].map((days) => addDays(today, days));

/** The ages of the segments between those cuts. What is due today is not overdue. */
export const AGES: readonly AgingBucket[] = ['d90_plus', 'd61_90', 'd31_60', 'd1_30', 'not_due'];

/**
 * a ÷ b × scale with 4 decimals. A divisor of 0, or less, which refunds and red letters can bring about, says nothing:
 * `null`.
 */
export const scaled = (a: bigint, b: bigint, scale = 1n): number | null => (b > 0n ? ratio(a * scale, b) : null);
