import type { Candidate, RowProblem } from './candidate.js';
import type { Outcome } from './report.js';

/** Outcomes as they are stored while an import is running. The candidates are read again from its input. */
interface StoredOutcome {
  readonly rows: readonly [number, ...number[]];
  readonly entered: Outcome['entered'];
  readonly problems: readonly RowProblem[];
}

export const storedOutcomes = (outcomes: readonly Outcome[]): StoredOutcome[] =>
  outcomes.map(({ candidate: { rows }, entered, problems }) => ({
    rows,
    // The ids of all lines matter to previews only.
    entered: entered && { ...entered, lineIds: [] },
    problems,
  }));

/**
 * Outcomes that were stored, each with the candidate of its first row. If the input is now read in another way, as
 * fields were changed since, a candidate has at least the rows.
 */
export function restoredOutcomes(
  json: readonly string[],
  candidates: readonly Pick<Candidate, 'rows' | 'input'>[],
): Outcome[] {
  const byFirst = new Map(candidates.map((candidate) => [candidate.rows[0], candidate]));
  return json
    .flatMap((text) => JSON.parse(text) as StoredOutcome[]) // written by `storedOutcomes`
    .map(({ rows, entered, problems }) => ({
      candidate: { rows, input: byFirst.get(rows[0])?.input ?? {} },
      entered,
      problems,
    }));
}

/** Those of which no row has an outcome yet. */
export function withoutOutcome<T extends { readonly candidate: Pick<Candidate, 'rows'> }>(
  all: readonly T[],
  outcomes: readonly Outcome[],
): T[] {
  const done = new Set(outcomes.flatMap(({ candidate }) => candidate.rows));
  return all.filter(({ candidate }) => !candidate.rows.some((row) => done.has(row)));
}
