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
import { enterContract, type Entered } from '../contracts/enter-contract.js';
import { sharedTransfers } from '../receivables/shared-transfers.js';
import type { OperationContext } from '../operation-context.js';
import type { PreparedImport } from './prepare-candidates.js';

export interface EnteredImport {
  readonly outcomes: readonly Outcome[];
  readonly blank: readonly number[];
  readonly unknownColumns: readonly string[];
  readonly warnings: ReadonlyMap<number, readonly Warning[]>;
  readonly rejected: Rejected;
}

/** Enters what can be entered, each contract by itself, and tells of the others why not. */
export async function enterCandidates(
  context: OperationContext,
  call: Call,
  {
    input: { people },
    prepared: { checked, blank, unknownColumns, rejected },
  }: { readonly input: ImportInput; readonly prepared: PreparedImport },
): Promise<EnteredImport> {
  const { store } = context;
  await store.closings.hold(new Set(checked.flatMap(({ result }) => (result.ok ? [result.input.subjectId] : []))));
  await store.lifecycle.ensureShipped(); // not within a contract's own savepoint, which may be undone
  const entering: Entering = { members: people.members, turn: yielding(context.signal), entered: [] };
  const outcomes: Outcome[] = [];
  for (let at = 0; at < checked.length; at += TOGETHER)
    outcomes.push(...(await enterSome(context, call, { checked: checked.slice(at, at + TOGETHER), entering })));
  for (const row of entering.entered) {
    await entering.turn();
    await store.contracts.index(row);
  }
  const failed = outcomes.filter(({ entered }) => entered === null).map(({ candidate }) => candidate);
  return {
    outcomes,
    blank,
    unknownColumns,
    warnings: await warningsOf(context, outcomes),
    rejected: await rejected(failed),
  };
}

/** How many other lines a row's warning names: there may be five thousand rows. */
const NAMED_LINES = 10;

/**
 * What deserves a look of the lines of each row, by its number. All are in by now: of two rows that name one bank
 * transfer each is told.
 */
async function warningsOf(context: OperationContext, outcomes: readonly Outcome[]): Promise<Map<number, Warning[]>> {
  const lines = outcomes.flatMap(({ candidate, entered }) =>
    (entered?.lines ?? []).map((line) => ({
      line,
      row: candidate.place(`payments[${line.position}].bankSerialNo`).row,
    })),
  );
  const shared = await sharedTransfers(
    context,
    lines.map(({ line }) => line),
    NAMED_LINES,
  );
  const byRow = Map.groupBy(lines, ({ row }) => row);
  const told = await mapYielding([...byRow], ([row, own]): [number, Warning[]] => [
    row,
    lineWarnings(
      own.map(({ line }) => line),
      own.flatMap(({ line }) => shared.get(line.id) ?? []).slice(0, NAMED_LINES),
    ),
  ]);
  return new Map(told.filter(([, warnings]) => warnings.length > 0));
}

interface Entering {
  readonly members: ImportInput['people']['members'];
  /** Lets others go first, now and then. */
  readonly turn: () => Promise<void>;
  /** Contracts that no search finds yet. */
  readonly entered: ContractRow[];
}

/**
 * Contracts that share a savepoint as long as all is well. Each could have its own, but in a long transaction SQLite is
 * the slower to end one the more pages the transaction has changed, and takes a quarter of an import's time for it.
 */
const TOGETHER = 25;

/** Together, if all of them can be entered; else each by itself. */
async function enterSome(
  context: OperationContext,
  call: Call,
  { checked, entering }: { readonly checked: PreparedImport['checked']; readonly entering: Entering },
): Promise<Outcome[]> {
  const attempt = async (
    { candidate, result }: PreparedImport['checked'][number],
    enter: (input: ContractInput) => Promise<Entered>,
  ): Promise<Outcome> => {
    await entering.turn();
    if (!result.ok) return refused(candidate, result.problems);
    const { row, lines } = await enter(result.input);
    return { candidate, entered: { contractId: row.id, contractNo: row.contractNo, lines }, problems: [] };
  };
  const already = entering.entered.length;
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
    return await context.savepoint(() => inTurn(checked, (one) => attempt(one, enter)));
  } catch (error) {
    if (!isFailure(error)) throw error;
    entering.entered.length = already;
  }
  return inTurn(checked, (one) =>
    attempt(one, (input) => context.savepoint(() => enter(input))).catch(async (error: unknown) => {
      if (isFailure(error)) return refused(one.candidate, await problemsOf(error, one.candidate));
      throw error;
    }),
  );
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

const refused = (candidate: Candidate, problems: readonly RowProblem[]): Outcome => ({
  candidate,
  entered: null,
  problems,
});
