import { addDays, type Day } from '../../../base/day.js';
import { ratio } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import type { AgingBucket, AnalyticsInput } from '../../contract/records/analytics.js';

/** The input of an analytics answer. */
export type Asked = AnalyticsInput & Pick<Call, 'today' | 'timeZone' | 'reminderLeadDays' | 'language'>;

/** The fields that all answers begin with. `currencies` are those of the tenant's data, in order. */
export const frameOf = ({ today, timeZone, subjectId, displayCurrency }: Asked, currencies: readonly string[]) => ({
  asOf: today,
  timezone: timeZone,
  subjectId,
  currencyCode: displayCurrency,
  excludedCurrencies: currencies.filter((code) => code !== displayCurrency),
});

/** The cuts between the aging buckets. */
export const agingCuts = ({ today }: { readonly today: Day }): Day[] =>
  [-90, -60, -30, 0].map((days) => addDays(today, days));

/** The aging buckets of the segments between these cuts. Amounts due today are not overdue. */
export const AGES: readonly AgingBucket[] = ['d90_plus', 'd61_90', 'd31_60', 'd1_30', 'not_due'];

/** a ÷ b × scale with 4 decimals. `null` when the divisor is 0 or less, which refunds and red letters can cause. */
export const scaled = (a: bigint, b: bigint, scale = 1n): number | null => (b > 0n ? ratio(a * scale, b) : null);
