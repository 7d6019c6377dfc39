import { FAILURES, isFailure, type Failure } from '../../../base/failures.js';
import { yielding } from '../../../base/yielding.js';
import { yieldingChecker } from '../../../base/validation-yielding.js';
import type { Rights } from '../../contract/call.js';
import { ContractInput, MAX_LINES } from '../../contract/records/contracts.js';
import { fieldsBeyondRights } from '../payments/line-rights.js';
import { isAccountField } from '../sensitive.js';
import { problemAt, type Candidate, type RowProblem } from './candidate.js';
import { withReferences, type Directory } from './references.js';

export type CheckedCandidate =
  | { readonly ok: true; readonly input: ContractInput }
  | { readonly ok: false; readonly problems: readonly RowProblem[] };

/** Finds all problems of a contract that can be detected before it is created. */
export async function checkCandidate(
  candidate: Candidate,
  {
    directory,
    rights,
    missing,
  }: {
    readonly directory: Directory;
    readonly rights: Rights;
    /** Fields whose columns the file lacks, which is reported once for the file. */
    readonly missing: ReadonlySet<string>;
  },
): Promise<CheckedCandidate> {
  const { input, problems: unknown } = withReferences(candidate, directory);
  const checked = await check(input);
  const issues = (checked.ok ? [] : checked.issues)
    .map(({ path, problem }) => problemAt(candidate.place(path), problem))
    .filter(({ field, value }) => value !== undefined || field === null || !missing.has(field));
  const problems = await oneAField([
    ...candidate.problems,
    ...unknown,
    ...issues,
    ...maskedAccounts(candidate),
    ...missingRights(candidate, rights),
  ]);
  return problems.length === 0 && checked.ok ? { ok: true, input: checked.value } : { ok: false, problems };
}

const check = yieldingChecker(ContractInput);

/** The problems of a contract whose creation was refused, by field. */
export async function problemsOf(failure: Failure, candidate: Candidate): Promise<readonly RowProblem[]> {
  if (isFailure(failure, 'INVALID_INPUT'))
    return oneAField(failure.details.issues.map(({ path, problem }) => problemAt(candidate.place(path), problem)));
  return fieldsOf(failure, candidate).map((field) => ({
    ...(field === null ? { row: candidate.rows[0], field, value: null } : candidate.place(field)),
    code: failure.code,
    message: sentenceOf(failure),
  }));
}

function fieldsOf(failure: Failure, { input }: Candidate): readonly (string | null)[] {
  if (isFailure(failure, 'DUPLICATE_CONTRACT_NO')) return ['contractNo'];
  if (isFailure(failure, 'DUPLICATE_ARCHIVE_CODE')) return ['archiveCode'];
  // The control `admin` is required for creating a contract at a stage, `approve` for limiting the roles that may move
  // it.
  if (isFailure(failure, 'WORKFLOW_CONTROL_REQUIRED'))
    return failure.details.control === 'approve'
      ? ['workflowAllowedRoles']
      : ['lifecycleStageCode' in input || !('workflowStage' in input) ? 'lifecycleStageCode' : 'workflowStage'];
  if (isFailure(failure, 'RECONCILE_WITHOUT_RECEIPT')) return [matchedLine(input['payments'])];
  if (isFailure(failure, 'FIELD_NOT_EDITABLE')) return failure.details.fields.map((id) => `dynamicFields.${id}`);
  const { field } = failure.details as { field?: unknown };
  return [typeof field === 'string' ? field : null];
}

const sentenceOf = (failure: Failure): string =>
  isFailure(failure, 'WORKFLOW_CONTROL_REQUIRED')
    ? `needs the workflow control ${failure.details.control} at the stage ${failure.details.stage}; your role has ${failure.details.has}`
    : FAILURES[failure.code].meaning;

function matchedLine(payments: unknown): string | null {
  const lines: readonly unknown[] = Array.isArray(payments) ? payments : [];
  const at = lines.findIndex(
    (line) => isRecord(line) && line['reconciliationStatus'] === 'matched' && !line['receivedAmount'],
  );
  return at < 0 ? null : `payments[${at}].reconciliationStatus`;
}

/** Creating the contract would refuse these as well; here each field is named. */
const missingRights = (candidate: Candidate, rights: Rights): RowProblem[] =>
  linesOf(candidate).flatMap((line, i) =>
    (isRecord(line) ? fieldsBeyondRights(line, rights) : []).map(({ field, needs }) =>
      problemAt(candidate.place(`payments[${i}].${field}`), `needs ${needs}, which your role lacks`, 'FORBIDDEN'),
    ),
  );

const MASKED = /^\s*\*{4}.{0,4}\s*$/u;

/** Exports without `sensitive_data` contain only masked account numbers, which must not replace the real ones. */
function maskedAccounts(candidate: Candidate): RowProblem[] {
  const ofLines = linesOf(candidate).flatMap((line, i) =>
    isRecord(line)
      ? Object.entries(line).map(([field, value]): [string, unknown] => [`payments[${i}].${field}`, value])
      : [],
  );
  return [...Object.entries(candidate.input), ...ofLines]
    .filter(([path, value]) => typeof value === 'string' && isAccountField(path) && MASKED.test(value))
    .map(([path]) =>
      problemAt(candidate.place(path), 'is a masked account number; give the whole number or leave the field empty'),
    );
}

/** The sent lines; none when the plan is too long and refused for that. */
function linesOf({ input }: Candidate): readonly unknown[] {
  const lines: unknown = input['payments'];
  return Array.isArray(lines) && lines.length <= MAX_LINES ? lines : [];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keeps only the first problem of each field. */
async function oneAField(problems: readonly RowProblem[]): Promise<RowProblem[]> {
  const pause = yielding();
  const seen = new Map<string, RowProblem>();
  for (const problem of problems) {
    await pause();
    const key = JSON.stringify([problem.row, problem.field, problem.field === null ? problem.message : '']);
    if (!seen.has(key)) seen.set(key, problem);
  }
  return [...seen.values()];
}
