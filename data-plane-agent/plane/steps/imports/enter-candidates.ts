import { isFailure } from '../../../base/failures.js';
import { mapYielding, yielding } from '../../../base/yielding.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import type { ImportInput } from '../../contract/records/imports.js';
import type { Candidate, RowProblem } from '../../domain/imports/candidate.js';
import { problemsOf } from '../../domain/imports/check-candidate.js';
import type { Rejected } from '../../tables/imports.js';
import type { Outcome } from '../../domain/imports/report.js';
import type { ContractRow } from '../../tables/contracts.js';
import { lineWarnings } from '../../domain/payments/line-warnings.js';
import { planWarnings } from '../../domain/payments/plan-warnings.js';
import { enterContract, type Entered } from '../contracts/enter-contract.js';
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
  {
    input: { people },
    prepared: { checked, blank, file, unread, rejected },
  }: { readonly input: ImportInput; readonly prepared: PreparedImport },
): Promise<EnteredImport> {
  const { store } = context;
  await store.closings.hold(new Set(checked.flatMap(({ result }) => (result.ok ? [result.input.subjectId] : []))));
  await store.lifecycle.ensureShipped(); // outside the savepoints, which may be rolled back
  const entering: Entering = { members: people.members, yieldIfDue: yielding(context.signal), unread, entered: [] };
  const outcomes: Outcome[] = [];
  for (let at = 0; at < checked.length; at += PER_SAVEPOINT)
    outcomes.push(...(await enterSome(context, call, { checked: checked.slice(at, at + PER_SAVEPOINT), entering })));
  await store.contracts.index(entering.entered, entering.yieldIfDue);
  const failed = outcomes.filter(({ entered }) => entered === null).map(({ candidate }) => candidate);
  return {
    outcomes,
    blank,
    ...file,
    warnings: await warningsOf(context, call, outcomes),
    rejected: await rejected(failed),
  };
}

/** Other lines that a row's warning names, since there may be five thousand rows. */
const NAMED_LINES = 10;

/**
 * Warnings by row number. All lines are entered by now, so that both of two rows with one bank transfer are warned
 * about.
 */
async function warningsOf(
  context: OperationContext,
  call: Call,
  outcomes: readonly Outcome[],
): Promise<Map<number, Warning[]>> {
  const linesOf = ({ candidate, entered }: Outcome) =>
    mapYielding(entered?.lines ?? [], (line) => ({
      line,
      row: candidate.place(`payments[${line.position}].bankSerialNo`).row,
    }));
  const lines = (await mapYielding(outcomes, linesOf)).flat();
  const shared = await sharedTransfers(
    context,
    lines.map(({ line }) => line),
    NAMED_LINES,
  );
  const sharing = lines.map(({ line }) => line).filter(({ id }) => shared.has(id));
  const transfers = await transfersOf(context, sharing);
  const byRow = Map.groupBy(lines, ({ row }) => row);
  const warned = await mapYielding([...byRow], ([row, own]): [number, Warning[]] => {
    const others = own.flatMap(({ line }) => shared.get(line.id) ?? []).slice(0, NAMED_LINES);
    const sharingHere = own.map(({ line }) => line).filter(({ id }) => shared.has(id));
    return [
      row,
      lineWarnings(
        own.map(({ line }) => ({ before: null, after: line })),
        { today: call.today, reused: reusedWarning(sharingHere, { others, transfers }) },
      ),
    ];
  });
  const byNumber = new Map(warned);
  // A contract's own warnings are reported with its first row.
  for (const { candidate, entered } of outcomes) {
    const [first] = candidate.rows;
    if (entered && first !== undefined && entered.warnings.length > 0)
      byNumber.set(first, [...entered.warnings, ...(byNumber.get(first) ?? [])]);
  }
  return new Map([...byNumber].filter(([, warnings]) => warnings.length > 0));
}

interface Entering {
  readonly members: ImportInput['people']['members'];
  /** Yields to the event loop from time to time. */
  readonly yieldIfDue: () => Promise<void>;
  readonly unread: PreparedImport['unread'];
  /** Contracts that are not yet indexed for search. */
  readonly entered: ContractRow[];
}

/**
 * Contracts per savepoint, as long as none fails. In a long transaction the cost of ending a savepoint in SQLite grows
 * with the pages changed: one per contract takes a quarter of an import's time.
 */
const PER_SAVEPOINT = 25;

/** Enters contracts in one savepoint or, if one is refused, each in its own. */
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
    const warnings = [...entering.unread.warningsOf(candidate, row), ...planWarnings(row, lines)];
    return {
      candidate,
      entered: { contractId: row.id, contractNo: row.contractNo, lines, warnings },
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
  try {
    return await context.savepoint(() => oneByOne(checked, (one) => attempt(one, enter)));
  } catch (error) {
    if (!isFailure(error)) throw error;
    entering.entered.length = enteredBefore;
  }
  return oneByOne(checked, (one) =>
    attempt(one, (input) => context.savepoint(() => enter(input))).catch(async (error: unknown) => {
      if (isFailure(error)) return refused(one.candidate, await problemsOf(error, one.candidate));
      throw error;
    }),
  );
}

async function oneByOne<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

const refused = (candidate: Candidate, problems: readonly RowProblem[]): Outcome => ({
  candidate,
  entered: null,
  problems,
});
