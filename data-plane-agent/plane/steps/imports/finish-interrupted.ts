import { fail, FAILURES, isFailure, type Failure, type FailureCode } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { ImportInput, ImportReport } from '../../contract/records/imports.js';
import type { Candidate } from '../../domain/imports/candidate.js';
import { candidateOfRow } from '../../domain/imports/candidate.js';
import { rejectedOfRows } from '../../domain/imports/rejected.js';
import type { Outcome } from '../../domain/imports/report.js';
import { restoredOutcomes, withoutOutcome } from '../../domain/imports/stored-outcomes.js';
import { NO_UNREAD_COLUMNS } from '../../domain/imports/unread-columns.js';
import type { RunningImportRow } from '../../tables/imports.js';
import type { OperationSteps } from '../operation-context.js';
import { concludeImport, finishImport, orReleased } from './finish-import.js';
import { prepareCandidates, type PreparedImport } from './prepare-candidates.js';

/** After so many attempts that completed no part of an import, what is left of it is reported as failed. */
export const MAX_ATTEMPTS = 5;

/**
 * Finishes an import that was taken over, in the name of the call that has begun it and within the time of this one.
 * The input is read again; rows with an outcome are not entered again.
 */
export async function finishInterrupted(
  steps: OperationSteps,
  { timeoutMs }: Pick<Call, 'timeoutMs'>,
  running: RunningImportRow,
): Promise<ImportReport> {
  const call = { ...running.call, timeoutMs };
  const own = steps.inTheNameOf('importContracts', call);
  own.keep();
  const { input, ...earlier } = await orReleased(own, running, () =>
    own.read(async ({ store: { runningImports } }) => ({
      input: JSON.parse(textOf(await runningImports.parts(running, 'input'))) as ImportInput, // validated by the call
      stored: (await runningImports.parts(running, 'outcomes')).map((part) => textOf([part])),
      nextPosition: await runningImports.nextPosition(running, 'outcomes'),
    })),
  );
  const abandon = ({ code }: Failure): Promise<ImportReport> =>
    orReleased(own, running, () => abandoned(own, call, { running, input, stored: earlier.stored, code }));
  if (running.attempts >= MAX_ATTEMPTS) return abandon(fail('IMPORT_INTERRUPTED', {}));
  let prepared: PreparedImport;
  try {
    prepared = await orReleased(own, running, () => own.read((context) => prepareCandidates(context, call, input)));
  } catch (error) {
    // The fields were changed since, such that the file can no longer be read.
    if (isFailure(error, 'IMPORT_FILE_INVALID')) return abandon(error);
    throw error;
  }
  return finishImport(own, call, { lease: running, prepared, members: input.people.members, ...earlier });
}

/** Reports the rows that have no outcome as failed. */
async function abandoned(
  steps: OperationSteps,
  call: Call,
  {
    running,
    input,
    stored,
    code,
  }: {
    readonly running: RunningImportRow;
    readonly input: ImportInput;
    readonly stored: readonly string[];
    readonly code: FailureCode;
  },
): Promise<ImportReport> {
  const prepared = unprepared(input);
  const all = prepared.candidates.map((candidate) => ({ candidate }));
  const outcomes = restoredOutcomes(stored, prepared.candidates);
  const failed = withoutOutcome(all, outcomes).map(({ candidate }): Outcome => ({
    candidate,
    entered: null,
    problems: [{ row: candidate.rows[0], field: null, code, message: FAILURES[code].meaning, value: null }],
  }));
  return concludeImport(steps, call, { lease: running, prepared, outcomes: [...outcomes, ...failed] });
}

/** The rows of an input of which no more can be said than that they were sent. */
function unprepared({ rows, sheet }: ImportInput): Pick<PreparedImport, 'blank' | 'file' | 'unread' | 'rejected'> & {
  readonly candidates: readonly Candidate[];
} {
  const file = { unknownColumns: [], suggestions: [], missingColumns: [], reading: null };
  if (rows)
    return {
      candidates: rows.map((row, i) => candidateOfRow(i + 1, row)),
      blank: [],
      file,
      unread: NO_UNREAD_COLUMNS,
      rejected: (failed) => rejectedOfRows(failed, []),
    };
  return {
    candidates: (sheet?.records ?? []).map(({ row }) => candidateOfRow(row, {})),
    blank: sheet?.blank ?? [],
    file,
    unread: NO_UNREAD_COLUMNS,
    // Which of the columns have account numbers is not known, so that none of them can be shown.
    rejected: () => Promise.resolve({ header: [], accounts: [], custom: [], rows: [] }),
  };
}

const textOf = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString('utf8');
