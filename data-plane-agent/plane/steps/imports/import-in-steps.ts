import { fail } from '../../../base/failures.js';
import { jsonBytes } from '../../../base/json-pieces.js';
import type { Call } from '../../contract/call.js';
import type { ImportInput, ImportReport } from '../../contract/records/imports.js';
import type { ImportLease } from '../../store/running-imports.js';
import type { RunningImportRow } from '../../tables/imports.js';
import type { OperationSteps } from '../operation-context.js';
import { finishInterrupted, MAX_ATTEMPTS } from './finish-interrupted.js';
import { afterError, finishImport } from './finish-import.js';
import { prepareCandidates } from './prepare-candidates.js';

/** Bytes of the input in one transaction, so that its commit is short. */
const PART_BYTES = 512 * 1024;

/**
 * Imports in many short transactions, so that others can write in between. The input is stored first: from then on all
 * of it is entered, if need be by another process, and before that nothing is.
 */
export async function importInSteps(steps: OperationSteps, call: Call, input: ImportInput): Promise<ImportReport> {
  const interrupted = call.idempotency && (await takenOver(steps, call.idempotency));
  if (interrupted) return finishInterrupted(steps, call, interrupted);
  const prepared = await steps.read((context) => prepareCandidates(context, call, input));
  const lease = { id: steps.newId(), holder: steps.newId() };
  await stage(steps, lease, input);
  steps.keep();
  return finishImport(steps, call, { lease, prepared, members: input.people.members, stored: [], nextPosition: 0 });
}

/**
 * The import that an earlier request with this key has begun and does not finish. Refuses the key while somebody works
 * on it.
 */
async function takenOver(
  steps: OperationSteps,
  { key, requestHash }: NonNullable<Call['idempotency']>,
): Promise<RunningImportRow | undefined> {
  const running = await steps.read(({ store }) => store.runningImports.ofKey(key));
  if (!running) return undefined;
  if (running.call.idempotency?.requestHash !== requestHash) throw fail('IDEMPOTENCY_KEY_REUSED', {});
  if (running.leasedUntil > steps.clock.now()) throw fail('IDEMPOTENCY_IN_PROGRESS', {});
  if (running.state === 'staging') {
    await steps.upkeep(({ store }) => store.runningImports.discard(running));
    return undefined;
  }
  // The job reports what could not be entered, and logs it.
  if (running.attempts >= MAX_ATTEMPTS) throw fail('IDEMPOTENCY_IN_PROGRESS', {});
  const holder = steps.newId();
  if (!(await steps.upkeep(({ store }) => store.runningImports.take(running, holder))))
    throw fail('IDEMPOTENCY_IN_PROGRESS', {});
  return { ...running, holder };
}

/** Stores what is needed to finish the import. */
async function stage(steps: OperationSteps, lease: ImportLease, input: ImportInput): Promise<void> {
  const bytes = await jsonBytes(input);
  await steps.announce(async ({ store }) => {
    if (!(await store.runningImports.begin(lease))) throw fail('IDEMPOTENCY_IN_PROGRESS', {});
  });
  try {
    for (let position = 0; position * PART_BYTES < bytes.length; position += 1) {
      const content = bytes.subarray(position * PART_BYTES, (position + 1) * PART_BYTES);
      await steps.announce(async ({ store }) => {
        await store.runningImports.renew(lease);
        await store.runningImports.addPart(lease, { kind: 'input', position, content });
      });
    }
    await steps.announce(({ store }) => store.runningImports.enter(lease));
  } catch (error) {
    return afterError(steps, error, () => steps.upkeep(({ store }) => store.runningImports.discard(lease)));
  }
}
