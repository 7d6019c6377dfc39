import { together } from '../../../base/together.js';
import { AnalyticsInput, AnalyticsSummary } from '../../contract/records/analytics.js';
import { analyticsSummary, SUMMARY_COUNTS, SUMMARY_SUMS, summaryCuts } from '../../domain/analytics/summary.js';
import { requireSubjectInScope } from '../../domain/subject-in-scope.js';
import { operation } from '../../steps/operation-context.js';

/** Headline totals of the contracts in scope. */
export const getAnalyticsSummary = operation({
  effect: 'read',
  input: AnalyticsInput,
  output: AnalyticsSummary,
  fails: [],
  async run({ store }, call, input) {
    requireSubjectInScope(call, input.subjectId);
    const [segments, tallies] = await together(
      store.figures.days({
        subjectId: input.subjectId,
        cuts: summaryCuts(call),
        counts: SUMMARY_COUNTS,
        sums: SUMMARY_SUMS,
      }),
      store.figures.tallies(input.subjectId),
    );
    return analyticsSummary({ segments, tallies }, { ...call, ...input });
  },
});
