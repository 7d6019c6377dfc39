import { isFailure } from '../../../base/failures.js';
import { jsonBytes } from '../../../base/json-pieces.js';
import { inLanes } from '../../../base/together.js';
import type { Call } from '../../contract/call.js';
import type { ImportReport } from '../../contract/records/imports.js';
import { codeIn, type Candidate } from '../../domain/imports/candidate.js';
import { reportOf, type Outcome } from '../../domain/imports/report.js';
import { restoredOutcomes, storedOutcomes, withoutOutcome } from '../../domain/imports/stored-outcomes.js';
import { uniqueKey } from '../../domain/unique-key.js';
import { IMPORT_LEASE_MS, type ImportLease } from '../../store/running-imports.js';
import type { OperationSteps } from '../operation-context.js';
import { enterChecked, lookedBackOn, type EnteringParts } from './enter-candidates.js';
import type { PreparedImport } from './prepare-candidates.js';

/**
 * Contracts and payment lines that are entered in one transaction, unless a contract has more lines: as many as take
 * about this time, within these limits.
 */
const AT_ONCE = { ms: 40, fewest: 80, most: 240 } as const;

export interface StagedImport extends Pick<EnteringParts, 'members'> {
  readonly lease: ImportLease;
  readonly prepared: PreparedImport;
  /** The outcomes of earlier attempts: one text for each transaction. */
  readonly stored: readonly string[];
  /** Where the next are stored. */
  readonly nextPosition: number;
}

/** Enters what was not entered yet, a few contracts at a time, and stores the report. */
export async function finishImport(steps: OperationSteps, call: Call, staged: StagedImport): Promise<ImportReport> {
  const { lease, prepared, stored } = staged;
  const { checked } = prepared;
  const restored = restoredOutcomes(
    stored,
    checked.map(({ candidate }) => candidate),
  );
  return orReleased(steps, lease, async () => {
    const left = withoutOutcome(checked, restored);
    const pace: Pace = { records: AT_ONCE.fewest };
    const entering = enteringInto(steps, call, { ...staged, pace });
    // Which of two contracts with one invoice number is refused must not depend on which transaction is faster.
    const lanes = hasRepeatedInvoices(left.map(({ candidate }) => candidate)) ? 1 : steps.writesAtOnce;
    const entered = await inLanes(someAtOnce(left, pace), lanes, entering);
    return concludeImport(steps, call, { lease, prepared, outcomes: [...restored, ...entered.flat()] });
  });
}

/** How many contracts and payment lines are entered in the next transaction. */
interface Pace {
  records: number;
}

interface Some {
  readonly checked: PreparedImport['checked'];
  readonly records: number;
}

/** Returns a function that enters some contracts in a transaction of their own. */
function enteringInto(
  steps: OperationSteps,
  call: Call,
  { lease, prepared: { unread }, members, nextPosition, pace }: StagedImport & { readonly pace: Pace },
): (some: Some) => Promise<Outcome[]> {
  let next = nextPosition;
  let renewedAt = Number.NEGATIVE_INFINITY;
  return async ({ checked, records }) => {
    const position = next++;
    const now = steps.clock.now();
    // Renewing it makes the transactions of the other lane wait, so that it is done from time to time.
    const renews = now - renewedAt >= RENEW_AFTER_MS;
    let began = 0;
    const made = await steps.write(async (context) => {
      began = performance.now(); // others wait from here until the commit
      const { runningImports } = context.store;
      await (renews ? runningImports.renew(lease) : runningImports.hold(lease));
      const outcomes = await enterChecked(context, call, { checked, members, unread, isRepeatable: true });
      await runningImports.addPart(lease, {
        kind: 'outcomes',
        position,
        content: await jsonBytes(storedOutcomes(outcomes)),
      });
      return outcomes;
    });
    if (renews) renewedAt = now;
    const tookMs = performance.now() - began;
    pace.records = Math.min(Math.max((records * AT_ONCE.ms) / tookMs, AT_ONCE.fewest), AT_ONCE.most);
    return made;
  };
}

const RENEW_AFTER_MS = IMPORT_LEASE_MS / 3;

/** Stores the report, which is the answer to the request from now on. */
export async function concludeImport(
  steps: OperationSteps,
  call: Call,
  {
    lease,
    prepared,
    outcomes,
  }: {
    readonly lease: ImportLease;
    readonly prepared: Pick<PreparedImport, 'blank' | 'file' | 'rejected'>;
    readonly outcomes: readonly Outcome[];
  },
): Promise<ImportReport> {
  const { warnings, rejected } = await steps.read((context) => lookedBackOn(context, { outcomes, prepared }));
  const { blank, file } = prepared;
  const report = await reportOf(lease.id, { outcomes, blank, ...file, warnings, rights: call.rights });
  const concluded = (last: OperationSteps): Promise<ImportReport> =>
    last.conclude(async ({ store }) => {
      await store.runningImports.remove(lease);
      await store.imports.insert({ id: lease.id, report, rejected });
      return report;
    });
  try {
    return await concluded(steps);
  } catch (error) {
    // Another operation has used the key meanwhile, and has its answer under it.
    if (!isFailure(error, 'IDEMPOTENCY_KEY_REUSED')) throw error;
    return concluded(steps.inTheNameOf('importContracts', { ...call, idempotency: null }));
  }
}

/** Lets others take over at once if the work ends early. */
export async function orReleased<T>(steps: OperationSteps, lease: ImportLease, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const counts = !steps.wasStopped(error);
    return afterError(steps, error, () => steps.upkeep(({ store }) => store.runningImports.release(lease, { counts })));
  }
}

/**
 * Throws the error after giving an import back. If that is stopped as well, as in the same outage, the lease ends by
 * itself; another error of it is thrown with the first.
 */
export async function afterError(
  { wasStopped }: Pick<OperationSteps, 'wasStopped'>,
  error: unknown,
  giveBack: () => Promise<void>,
): Promise<never> {
  try {
    await giveBack();
  } catch (second) {
    if (!wasStopped(second))
      throw new AggregateError(
        [error, second],
        `an import was interrupted (${String(error)}), and could not be given back (${String(second)})`,
      );
  }
  throw error;
}

/** The next contracts, few enough that others hardly wait for the transaction in which they are entered. */
function* someAtOnce(left: PreparedImport['checked'], pace: Readonly<Pace>): Generator<Some> {
  for (let at = 0; at < left.length;) {
    let records = 0;
    let end = at;
    for (const { candidate } of left.slice(at, at + AT_ONCE.most)) {
      const own = 1 + paymentsOf(candidate).length;
      if (end > at && records + own > pace.records) break;
      records += own;
      end += 1;
    }
    yield { checked: left.slice(at, end), records };
    at = end;
  }
}

const paymentsOf = ({ input: { payments } }: Pick<Candidate, 'input'>): readonly unknown[] =>
  Array.isArray(payments) ? payments : [];

/** Whether two payment lines name the same invoice. */
function hasRepeatedInvoices(candidates: readonly Pick<Candidate, 'input'>[]): boolean {
  const seen = new Set<string>();
  for (const candidate of candidates)
    for (const line of paymentsOf(candidate)) {
      const named: unknown = (line as { readonly invoiceNo?: unknown } | null)?.invoiceNo;
      const code = typeof named === 'string' ? codeIn(named) : undefined;
      if (code === undefined) continue;
      const key = uniqueKey(code);
      if (seen.has(key)) return true;
      seen.add(key);
    }
  return false;
}
