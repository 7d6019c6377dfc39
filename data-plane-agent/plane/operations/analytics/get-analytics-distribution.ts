import { together } from '../../../base/together.js';
import { AnalyticsDistribution, AnalyticsInput } from '../../contract/records/analytics.js';
import { agingCuts } from '../../domain/analytics/analytics.js';
import { AGED_COUNTS, AGED_SUMS, analyticsDistribution } from '../../domain/analytics/distribution.js';
import { requireSubjectInScope } from '../../domain/subject-in-scope.js';
import { operation } from '../../steps/operation-context.js';

/** Contracts by attribute, and outstanding amounts by age. */
export const getAnalyticsDistribution = operation({
  effect: 'read',
  input: AnalyticsInput,
  output: AnalyticsDistribution,
  fails: [],
  async run({ store }, call, input) {
    requireSubjectInScope(call, input.subjectId);
    const [ages, tallies] = await together(
      store.figures.days({
        subjectId: input.subjectId,
        cuts: agingCuts(call),
        counts: AGED_COUNTS,
        sums: AGED_SUMS,
      }),
      store.figures.tallies(input.subjectId),
    );
    return analyticsDistribution({ tallies, ages }, { ...call, ...input });
  },
});
