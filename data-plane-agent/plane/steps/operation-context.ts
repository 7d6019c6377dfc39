import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { MultiStepOperation, Operation } from '../contract/operation.js';
import type { Steps } from '../contract/steps.js';
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
   * rollup deltas, and is rethrown. On SQLite the whole transaction may be run again without it, unless the work
   * `isUndoneAlone`: for long transactions, and for work that ends with an error by intention.
   */
  savepoint<T>(work: () => Promise<T>, options?: { readonly isUndoneAlone?: boolean }): Promise<T>;
  /**
   * How many pieces of work that do not depend on each other are worth doing at once in this transaction: on PostgreSQL
   * some, of which one is computed while the statements of others run, on SQLite one.
   */
  readonly lanes: number;
  /** Whether an error may come from two pieces of work at once that write the same, of which one would find the other's. */
  isCollision(error: unknown): boolean;
}

/** The steps of an operation that uses nothing but the database. */
export type OperationSteps = Steps<OperationContext>;

/** Declares an operation; see CONTRIBUTING.md. Its name is its key in `OPERATIONS`. */
export const operation = <I extends TSchema, O extends TSchema, P = Static<I>>(
  declared: Operation<OperationContext, I, O, P>,
): Operation<OperationContext, I, O, P> => declared;

/**
 * The dependencies of a multi-step operation, for one caller. Requests to the object store observe `signal`, like the
 * steps.
 */
export interface MultiStepContext extends OperationSteps {
  readonly files: FileServices;
  readonly log: Log;
  /**
   * Runs after the result was returned, also when the client has disconnected. Work lost in a crash is taken up by a
   * schedule.
   */
  afterwards(rest: () => Promise<void>): void;
}

/** Declares a multi-step operation that uses nothing but the database. */
export const stepwiseOperation = <I extends TSchema, O extends TSchema>(
  declared: MultiStepOperation<OperationSteps, I, O>,
): MultiStepOperation<OperationSteps, I, O> => declared;

/** Declares a multi-step operation, as `operation` declares an operation. */
export const multiStepOperation = <I extends TSchema, O extends TSchema>(
  declared: MultiStepOperation<MultiStepContext, I, O>,
): MultiStepOperation<MultiStepContext, I, O> => declared;
