import type { Clock } from '../../base/clock.js';
import type { Database } from '../../base/database/database.js';
import { deadlineIn } from '../../base/deadline.js';
import { fail, invalid, isFailure } from '../../base/failures.js';
import type { KeyRing } from '../../base/secrets.js';
import type { TSchema } from '../../base/schema.js';
import { yieldingChecker } from '../../base/validation-yielding.js';
import type { Answer, DataPlane, OperationList } from '../contract/data-plane.js';
import type { MultiStepOperation, Operation } from '../contract/operation.js';
import { ObjectStoreError } from '../files/objects/object-store.js';
import { unavailable } from './unavailable.js';
import type { OperationContext, MultiStepContext } from '../steps/operation-context.js';
import { multiStepRunner, type ExternalServices } from './run-multi-step.js';
import { operationRunner } from './run-operation.js';
import type { Progress } from './steps.js';
import { createTurns } from './turns.js';
import { createUnitsOfWork, type Invocation } from './unit-of-work.js';

export type { ExternalServices } from './run-multi-step.js';

export interface LocalDataPlaneOptions<L extends OperationList> {
  readonly operations: L;
  readonly database: Database;
  readonly clock: Clock;
  /** Seals the stored responses of idempotent writes, and the head of each audit chain. */
  readonly keyRing: KeyRing;
  /** Required by operations that use files; a plane without it can only run operations on the database. */
  readonly external?: ExternalServices;
  /** Runs operations on long inputs: a plane on the same database in another thread. By default they run here. */
  readonly forLong?: DataPlane<L>;
}

/** An entry of the list of operations. */
type Listed = Operation<OperationContext> | MultiStepOperation<MultiStepContext>;

/**
 * The data plane in this process. This function validates the input and enforces the deadline; the unit of work adds
 * the transaction, the idempotency record, audit and outbox rows, rollups, and the tenant's data version, by which
 * totals are cached.
 */
export function createLocalDataPlane<L extends Readonly<Record<string, Listed>>>({
  operations,
  external: outside,
  forLong,
  ...options
}: LocalDataPlaneOptions<L>): DataPlane<L> {
  const units = createUnitsOfWork(options);
  const { clock } = options;
  const inTurn = createTurns();
  const runOperation = operationRunner({ units, clock, inTurn });
  const runMultiStep = multiStepRunner({ units, external: outside, clock, inTurn });

  return {
    async invoke(name, { call, signal }, input) {
      const operation = operations[name];
      if (!operation) throw new Error(`there is no operation ${name}`);
      const deadline = deadlineIn(call.timeoutMs, signal);
      const invocation: Invocation = {
        name,
        call,
        deadline,
        isUpkeep: operation.isUpkeep === true,
        whileMoving: operation.whileMoving,
      };
      const progress: Progress = { hasWritten: false };
      try {
        const checked = await validated(operation.input, input);
        if (forLong && operation.isLong?.(checked)) {
          const timeoutMs = Math.max(1, Math.floor(deadline.remaining()));
          return await forLong.invoke(name, { call: { ...call, timeoutMs }, signal }, checked as never); // validated above
        }
        const answer = await ('perform' in operation
          ? runMultiStep(operation, invocation, { input: checked, progress })
          : runOperation(operation, invocation, { input: checked, progress }));
        return answer as Answer<never>; // the output has the declared type
      } catch (error) {
        throw failureOf(error, { invocation, effect: operation.effect, progress, log: outside?.log });
      } finally {
        deadline.settle();
      }
    },
  };
}

interface Unfinished {
  readonly invocation: Invocation;
  readonly effect: 'read' | 'write';
  readonly progress: Progress;
  readonly log: ExternalServices['log'] | undefined;
}

/** Converts an error to what the caller gets; the log has the details. */
function failureOf(
  error: unknown,
  { invocation: { call, deadline }, effect, progress: { hasWritten }, log }: Unfinished,
): unknown {
  if (isFailure(error)) return error;
  if (!(error instanceof ObjectStoreError)) return unavailable(error, { effect, call, hasWritten });
  if (deadline.signal.aborted) return unavailable(deadline.signal.reason, { effect, call, hasWritten });
  // An unreachable store and one with a wrong configuration look the same to the caller: retry later.
  log?.error(
    { err: error, requestId: call.requestId, tenantId: call.tenantId },
    error.code === 'denied' ? 'the object store denies access: see duebook doctor' : 'the object store is unavailable',
  );
  return fail('OBJECT_STORE_UNAVAILABLE', { retryAfterSeconds: 10 }, { cause: error });
}

async function validated(schema: TSchema, input: unknown): Promise<unknown> {
  const checked = await yieldingChecker(schema)(input);
  if (!checked.ok) throw invalid(...checked.issues);
  return checked.value;
}
