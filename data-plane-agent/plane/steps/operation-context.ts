import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { MultiStepOperation, Operation } from '../contract/operation.js';
import type { FileServices } from '../files/services.js';
import type { ChangeRecorder } from '../store/change-recorder.js';
import type { Store } from '../store/store.js';

/** The dependencies of an operation, bound to one tenant, one caller and one transaction. */
export interface OperationContext {
  readonly store: Store;
  readonly recorder: ChangeRecorder;
  readonly clock: Clock;
  readonly newId: () => string;
  /**
   * Aborted when nobody waits for the result any more. Statements observe it; long computations between them must check
   * it.
   */
  readonly signal: AbortSignal;
  /**
   * Runs work that may fail on its own, such as a row of an import. A failure undoes its writes, recorded changes and
   * rollup deltas, and is rethrown.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** Declares an operation; see CONTRIBUTING.md. Its name is its key in `OPERATIONS`. */
export const operation = <I extends TSchema, O extends TSchema, P = Static<I>>(
  declared: Operation<OperationContext, I, O, P>,
): Operation<OperationContext, I, O, P> => declared;

/** The dependencies of a multi-step operation, for one caller. */
export interface MultiStepContext {
  readonly files: FileServices;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Log;
  /**
   * Aborted when nobody waits for the result any more. Steps other than `upkeep` and requests to the object store
   * observe it.
   */
  readonly signal: AbortSignal;
  /** A read-only step. */
  read<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /** A step that writes. */
  write<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /**
   * A step for claims and counters, which are neither audited nor change the data version. It also runs after the
   * deadline, so that claims are released.
   */
  upkeep<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /** The last step. Its result is the operation's result, and is returned again for the same idempotency key. */
  conclude<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /**
   * Runs after the result was returned, also when the client has disconnected. Work lost in a crash is taken up by a
   * schedule.
   */
  afterwards(rest: () => Promise<void>): void;
}

/** Declares a multi-step operation, as `operation` declares an operation. */
export const multiStepOperation = <I extends TSchema, O extends TSchema>(
  declared: MultiStepOperation<MultiStepContext, I, O>,
): MultiStepOperation<MultiStepContext, I, O> => declared;
