import { AnalyticsCashflow, AnalyticsInput } from '../../contract/records/analytics.js';
import { analyticsCashflow, CASHFLOW_COUNTS, CASHFLOW_SUMS, cashflowCuts } from '../../domain/analytics/cashflow.js';
import { requireSubjectInScope } from '../../domain/subject-in-scope.js';
import { operation } from '../../steps/operation-context.js';

/** Expected, received and invoiced amounts by month. */
export const getAnalyticsCashflow = operation({
  effect: 'read',
  input: AnalyticsInput,
  output: AnalyticsCashflow,
  fails: [],
  async run({ store }, call, input) {
    requireSubjectInScope(call, input.subjectId);
    const segments = await store.figures.days({
      subjectId: input.subjectId,
      cuts: cashflowCuts(call),
      counts: CASHFLOW_COUNTS,
      sums: CASHFLOW_SUMS,
    });
    return analyticsCashflow(segments, { ...call, ...input });
  },
});
