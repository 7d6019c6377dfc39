import { isFailure } from '../../../base/failures.js';
import { jsonBytes } from '../../../base/json-pieces.js';
import type { Call } from '../../contract/call.js';
import type { ImportReport } from '../../contract/records/imports.js';
import { reportOf, type Outcome } from '../../domain/imports/report.js';
import { restoredOutcomes, storedOutcomes, withoutOutcome } from '../../domain/imports/stored-outcomes.js';
import type { ImportLease } from '../../store/running-imports.js';
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
}

/** Enters what was not entered yet, a few contracts at a time, and stores the report. */
export async function finishImport(
  steps: OperationSteps,
  call: Call,
  { lease, prepared, members, stored }: StagedImport,
): Promise<ImportReport> {
  const { checked, unread } = prepared;
  const outcomes = restoredOutcomes(
    stored,
    checked.map(({ candidate }) => candidate),
  );
  let position = stored.length;
  return orReleased(steps, lease, async () => {
    const left = withoutOutcome(checked, outcomes);
    for (let at = 0, size: number = AT_ONCE.fewest; at < left.length;) {
      const { some, records } = someAtOnce(left, { at, size });
      let began = 0;
      const entered = await steps.write(async (context) => {
        began = performance.now(); // others wait from here until the commit
        const { runningImports } = context.store;
        await runningImports.renew(lease);
        const made = await enterChecked(context, call, {
          checked: some,
          members,
          unread,
          isRepeatable: true,
        });
        await runningImports.addPart(lease, {
          kind: 'outcomes',
          position,
          content: await jsonBytes(storedOutcomes(made)),
        });
        return made;
      });
      const tookMs = performance.now() - began;
      size = Math.min(Math.max((records * AT_ONCE.ms) / tookMs, AT_ONCE.fewest), AT_ONCE.most);
      at += some.length;
      position += 1;
      outcomes.push(...entered);
    }
    return concludeImport(steps, call, { lease, prepared, outcomes });
  });
}

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
function someAtOnce(
  left: PreparedImport['checked'],
  { at, size }: { readonly at: number; readonly size: number },
): { readonly some: PreparedImport['checked']; readonly records: number } {
  let records = 0;
  let end = at;
  for (const { candidate } of left.slice(at, at + AT_ONCE.most)) {
    const payments: unknown = candidate.input['payments'];
    const own = 1 + (Array.isArray(payments) ? payments.length : 0);
    if (end > at && records + own > size) break;
    records += own;
    end += 1;
  }
  return { some: left.slice(at, end), records };
}
