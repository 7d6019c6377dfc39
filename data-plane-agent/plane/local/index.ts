import type { Clock } from '../../base/clock.js';
import type { Database } from '../../base/database/database.js';
import { deadlineIn } from '../../base/deadline.js';
import { fail, invalid, isFailure } from '../../base/failures.js';
import type { KeyRing } from '../../base/secrets.js';
import type { TSchema } from '../../base/schema.js';
import { yieldingChecker } from '../../base/validation-yielding.js';
import type { Answer, DataPlane } from '../contract/data-plane.js';
import type { MultiStepOperation, Operation } from '../contract/operation.js';
import { ObjectStoreError } from '../files/objects/object-store.js';
import { outOfReach } from './out-of-reach.js';
import type { OperationContext, MultiStepContext } from '../steps/operation-context.js';
import { multiStepRunner, type ExternalServices, type Progress } from './run-multi-step.js';
import { operationRunner } from './run-operation.js';
import { createUnitsOfWork, type Asked } from './unit-of-work.js';

export type { ExternalServices } from './run-multi-step.js';

export interface LocalDataPlaneOptions<L> {
  readonly operations: L;
  readonly database: Database;
  readonly clock: Clock;
  /** Seals the stored answers of idempotent writes, and the head of each audit chain. */
  readonly keyRing: KeyRing;
  /** What multi-step operations need; a plane without it is for work on the database alone. */
  readonly external?: ExternalServices;
}

/** An operation or a multi-step operation, as a list has them. */
type Listed = Operation<OperationContext> | MultiStepOperation<MultiStepContext>;

/**
 * The data plane in this process. Around every `run` stand the validation of the input and the time that the caller
 * gives (here), and the unit of work: the transaction, the idempotency record, the audit rows, the outbox rows, the
 * rollups, and the tenant's data version, under which totals are cached.
 */
export function createLocalDataPlane<L extends Readonly<Record<string, Listed>>>({
  operations,
  external: outside,
  ...options
}: LocalDataPlaneOptions<L>): DataPlane<L> {
  const units = createUnitsOfWork(options);
  const runOperation = operationRunner(units);
  const runMultiStep = multiStepRunner({ units, external: outside, clock: options.clock });

  return {
    async invoke(name, { call, signal }, input) {
      const operation = operations[name];
      if (!operation) throw new Error(`no operation is called ${name}`);
      const deadline = deadlineIn(call.timeoutMs, signal);
      const asked: Asked = { name, call, deadline, isUpkeep: operation.isUpkeep === true };
      const progress: Progress = { hasWritten: false };
      try {
        const checked = await validated(operation.input, input);
        const answer = await ('perform' in operation
          ? runMultiStep(operation, asked, { input: checked, progress })
          : runOperation(operation, asked, checked));
        return answer as Answer<never>; // its output is what the operation declares
      } catch (error) {
        throw told(error, { asked, effect: operation.effect, progress, log: outside?.log });
      } finally {
        deadline.settle();
      }
    },
  };
}

interface Unfinished {
  readonly asked: Asked;
  readonly effect: 'read' | 'write';
  readonly progress: Progress;
  readonly log: ExternalServices['log'] | undefined;
}

/** What kept the operation from its end, as the caller is told it. The log tells more. */
function told(
  error: unknown,
  { asked: { call, deadline }, effect, progress: { hasWritten }, log }: Unfinished,
): unknown {
  if (isFailure(error)) return error;
  if (!(error instanceof ObjectStoreError)) return outOfReach(error, { effect, call, hasWritten });
  if (deadline.signal.aborted) return outOfReach(deadline.signal.reason, { effect, call, hasWritten });
  // A store out of reach, and one that its operator has locked us out of, are alike to the caller: try again later.
  log?.error(
    { err: error, requestId: call.requestId, tenantId: call.tenantId },
    error.code === 'denied' ? 'the object store refuses us: see duebook doctor' : 'the object store is out of reach',
  );
  return fail('OBJECT_STORE_UNAVAILABLE', { retryAfterSeconds: 10 }, { cause: error });
}

async function validated(schema: TSchema, input: unknown): Promise<unknown> {
  const checked = await yieldingChecker(schema)(input);
  if (!checked.ok) throw invalid(...checked.issues);
  return checked.value;
}
