import { fail, invalid } from '../../../base/failures.js';
import { endIssues } from '../../domain/lifecycle/moves.js';
import type { StageRow, TransitionRow } from '../../tables/lifecycle.js';

/** Checks that a transition leads from one stage of its template to another. */
export function checkEnds(
  transition: Pick<TransitionRow, 'fromStageCode' | 'toStageCode'>,
  stages: readonly StageRow[],
): void {
  const issues = endIssues(transition);
  if (issues.length > 0) throw invalid(...issues);
  for (const field of ['fromStageCode', 'toStageCode'] as const) {
    const value = transition[field];
    if (!stages.some(({ code }) => code === value)) throw fail('REFERENCE_INVALID', { field, value });
  }
}
