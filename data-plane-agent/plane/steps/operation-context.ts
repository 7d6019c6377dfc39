import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { MultiStepOperation, Operation } from '../contract/operation.js';
import type { FileServices } from '../files/services.js';
import type { ChangeRecorder } from '../store/change-recorder.js';
import type { Store } from '../store/store.js';

/** What an operation works with. Everything in here is bound to one tenant, one caller and one transaction. */
export interface OperationContext {
  readonly store: Store;
  readonly recorder: ChangeRecorder;
  readonly clock: Clock;
  readonly newId: () => string;
  /**
   * Aborted when nobody waits for the outcome any more. Statements end by it themselves; long work between them looks
   * at it.
   */
  readonly signal: AbortSignal;
  /**
   * Runs work that may fail by itself: what it did is undone, with what it told the change recorder and the rollup
   * delta, and the failure is thrown on. For the rows of an import.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** Declares an operation; see CONTRIBUTING.md. The name is its key in the list. */
export const operation = <I extends TSchema, O extends TSchema, P = Static<I>>(
  declared: Operation<OperationContext, I, O, P>,
): Operation<OperationContext, I, O, P> => declared;

/** What a multi-step operation works with, for one caller. */
export interface MultiStepContext {
  readonly files: FileServices;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Log;
  /**
   * Aborted when nobody waits for the outcome any more. Steps and questions to the object store end by it themselves,
   * but for `upkeep`.
   */
  readonly signal: AbortSignal;
  /** A step that only looks. */
  read<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /** A step that changes something. */
  write<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /**
   * A step of bookkeeping: claims and counters that are nobody's contract data, neither audited nor moving the data
   * version. It is taken also when the time is over, so that what was claimed is given back.
   */
  upkeep<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /**
   * The last step: what it comes to is the operation's answer, and is answered again to whoever sends the same
   * idempotency key.
   */
  conclude<T>(step: (context: OperationContext) => Promise<T>): Promise<T>;
  /** Goes on after the answer, whoever waits no longer. What is lost with the process is taken up by a schedule. */
  afterwards(rest: () => Promise<void>): void;
}

/** Declares a multi-step operation, as `operation` declares an operation. */
export const multiStepOperation = <I extends TSchema, O extends TSchema>(
  declared: MultiStepOperation<MultiStepContext, I, O>,
): MultiStepOperation<MultiStepContext, I, O> => declared;
