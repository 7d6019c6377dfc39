import { isFailure } from '../../../base/failures.js';
import { inLanes, together } from '../../../base/together.js';
import { yielding, type YieldIfDue } from '../../../base/yielding.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import type { ImportInput } from '../../contract/records/imports.js';
import type { Candidate, RowProblem } from '../../domain/imports/candidate.js';
import { problemsOf } from '../../domain/imports/check-candidate.js';
import type { Rejected } from '../../tables/imports.js';
import type { Outcome } from '../../domain/imports/report.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';
import { lineWarnings } from '../../domain/payments/line-warnings.js';
import { planWarnings } from '../../domain/payments/plan-warnings.js';
import { enterContract, type Entered } from '../contracts/enter-contract.js';
import { holdForEntering } from '../fields/contract-values.js';
import { reusedWarning, sharedTransfers, transfersOf } from '../receivables/shared-transfers.js';
import type { OperationContext } from '../operation-context.js';
import type { PreparedImport, ReadFile } from './prepare-candidates.js';

export interface EnteredImport extends ReadFile {
  readonly outcomes: readonly Outcome[];
  readonly blank: readonly number[];
  readonly warnings: ReadonlyMap<number, readonly Warning[]>;
  readonly rejected: Rejected;
}

/** Enters each valid contract and reports why the others were refused. */
export async function enterCandidates(
  context: OperationContext,
  call: Call,
  { input: { people }, prepared }: { readonly input: ImportInput; readonly prepared: PreparedImport },
): Promise<EnteredImport> {
  const { checked, unread } = prepared;
  const outcomes = await enterChecked(context, call, { checked, members: people.members, unread });
  return {
    outcomes,
    blank: prepared.blank,
    ...prepared.file,
    ...(await lookedBackOn(context, { outcomes, prepared })),
  };
}

export interface EnteringParts extends Pick<PreparedImport, 'checked' | 'unread'> {
  readonly members: ImportInput['people']['members'];
  /** Whether the transaction is so short that it may be run again when a contract is refused. */
  readonly isRepeatable?: boolean;
}

/** Enters some of the contracts, and indexes them for search. */
export async function enterChecked(
  context: OperationContext,
  call: Call,
  { checked, members, unread, isRepeatable = false }: EnteringParts,
): Promise<Outcome[]> {
  await holdForAll(
    context,
    checked.flatMap(({ result }) => (result.ok ? [result.input] : [])),
  );
  const entering: Entering = { members, yieldIfDue: yielding(context.signal), unread, isRepeatable, entered: [] };
  const outcomes: Outcome[] = [];
  const size = isRepeatable && context.lanes === 1 ? 1 : PER_SAVEPOINT;
  for (let at = 0; at < checked.length; at += size)
    outcomes.push(...(await enterSome(context, call, { checked: checked.slice(at, at + size), entering })));
  await context.store.contracts.index(entering.entered, entering.yieldIfDue);
  return outcomes;
}

/** Outside the savepoints: when one is rolled back, what was locked in it is free, and what was written is gone. */
async function holdForAll(context: OperationContext, inputs: readonly ContractInput[]): Promise<void> {
  const { store } = context;
  await store.closings.hold(new Set(inputs.map(({ subjectId }) => subjectId)));
  await store.lifecycle.ensureShipped();
  const withValues = inputs.find(({ dynamicFields }) => Object.keys(dynamicFields ?? {}).length > 0);
  await together(store.lifecycle.hold(), holdForEntering(context, withValues?.dynamicFields));
}

/** What can be said only when all contracts are entered: the warnings, and the rows that were rejected. */
export async function lookedBackOn(
  context: OperationContext,
  {
    outcomes,
    prepared,
  }: { readonly outcomes: readonly Outcome[]; readonly prepared: Pick<PreparedImport, 'rejected'> },
): Promise<Pick<EnteredImport, 'warnings' | 'rejected'>> {
  const failed = outcomes.filter(({ entered }) => entered === null).map(({ candidate }) => candidate);
  return { warnings: await warningsOf(context, outcomes), rejected: await prepared.rejected(failed) };
}

/** Other lines that a row's warning names, since there may be five thousand rows. */
const NAMED_LINES = 10;

/**
 * Warnings by row number. All lines are entered by now, so that both of two rows with one bank transfer are warned
 * about.
 */
async function warningsOf(context: OperationContext, outcomes: readonly Outcome[]): Promise<Map<number, Warning[]>> {
  const entered = outcomes.flatMap((outcome) => outcome.entered ?? []);
  const lines = entered.flatMap(({ transferred }) => transferred);
  const shared = await sharedTransfers(context, lines, NAMED_LINES);
  const sharing = lines.filter(({ id }) => shared.has(id));
  const transfers = await transfersOf(context, sharing);
  const byRow = new Map(
    entered.flatMap(({ warnings }) => warnings.map(([row, own]): [number, Warning[]] => [row, [...own]])),
  );
  const yieldIfDue = yielding(context.signal);
  for (const [row, own] of Map.groupBy(sharing, (line) => line.row)) {
    await yieldIfDue();
    const others = own.flatMap(({ id }) => shared.get(id) ?? []).slice(0, NAMED_LINES);
    byRow.set(row, [...(byRow.get(row) ?? []), ...reusedWarning(own, { others, transfers })]);
  }
  return byRow;
}

/** The warnings about one contract, by row, but for those about bank transfers. */
function ownWarnings(
  candidate: Candidate,
  { lines, rowOf, ofContract }: { lines: readonly LineRow[]; rowOf: (line: LineRow) => number; ofContract: Warning[] },
  call: Call,
): (readonly [number, readonly Warning[]])[] {
  const byRow = new Map<number, readonly Warning[]>([[candidate.rows[0], ofContract]]);
  for (const [row, own] of Map.groupBy(lines, rowOf)) {
    const ofLines = lineWarnings(
      own.map((after) => ({ before: null, after })),
      { today: call.today, reused: [] },
    );
    byRow.set(row, [...(byRow.get(row) ?? []), ...ofLines]);
  }
  return [...byRow].filter(([, warnings]) => warnings.length > 0);
}

interface Entering extends Pick<EnteringParts, 'members' | 'unread'> {
  readonly isRepeatable: boolean;
  /** Yields to the event loop from time to time. */
  readonly yieldIfDue: YieldIfDue;
  /** Contracts that are not yet indexed for search. */
  readonly entered: ContractRow[];
}

/**
 * Contracts per savepoint, as long as none fails. In a long transaction the cost of ending a savepoint in SQLite grows
 * with the pages changed: one per contract takes a quarter of an import's time.
 */
const PER_SAVEPOINT = 25;

/** Enters contracts in one savepoint, some of them at once, or, if one is refused, each in its own and in their order. */
async function enterSome(
  context: OperationContext,
  call: Call,
  { checked, entering }: { readonly checked: PreparedImport['checked']; readonly entering: Entering },
): Promise<Outcome[]> {
  const attempt = async (
    { candidate, result }: PreparedImport['checked'][number],
    enter: (input: ContractInput) => Promise<Entered>,
  ): Promise<Outcome> => {
    await entering.yieldIfDue();
    if (!result.ok) return refused(candidate, result.problems);
    const { row, lines } = await enter(result.input);
    const rowOf = ({ position }: LineRow): number => candidate.place(`payments[${position}].bankSerialNo`).row;
    const ofContract = [...entering.unread.warningsOf(candidate, row), ...planWarnings(row, lines)];
    return {
      candidate,
      entered: {
        contractId: row.id,
        contractNo: row.contractNo,
        lineIds: lines.map(({ id }) => id),
        transferred: lines.flatMap((line) =>
          line.bankSerialNo === null ? [] : [{ id: line.id, bankSerialNo: line.bankSerialNo, row: rowOf(line) }],
        ),
        warnings: ownWarnings(candidate, { lines, rowOf, ofContract }, call),
      },
      problems: [],
    };
  };
  const enteredBefore = entering.entered.length;
  const enter = async (input: ContractInput): Promise<Entered> => {
    const entered = await enterContract(context, call, {
      input,
      source: 'import',
      indexLater: true,
      members: entering.members,
    });
    entering.entered.push(entered.row);
    return entered;
  };
  const options = { isUndoneAlone: !entering.isRepeatable };
  try {
    if (checked.length > 1)
      return await context.savepoint(() => inLanes(checked, context.lanes, (one) => attempt(one, enter)), options);
  } catch (error) {
    // Of two with the same number of an invoice, entered at once, neither finds the other's.
    if (!isFailure(error) && !context.isCollision(error)) throw error;
    entering.entered.length = enteredBefore;
  }
  return inLanes(checked, 1, (one) =>
    attempt(one, (input) => context.savepoint(() => enter(input), options)).catch(async (error: unknown) => {
      if (isFailure(error)) return refused(one.candidate, await problemsOf(error, one.candidate));
      throw error;
    }),
  );
}

const refused = (candidate: Candidate, problems: readonly RowProblem[]): Outcome => ({
  candidate,
  entered: null,
  problems,
});
