import type { Clock } from '../../base/clock.js';
import type { Log } from '../../base/log.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { Errand, Operation } from '../contract/operation.js';
import type { FileServices } from '../files/services.js';
import type { Journal } from '../store/journal.js';
import type { Store } from '../store/store.js';

/** What an operation works with. Everything in here is bound to one tenant, one caller and one transaction. */
export interface Tools {
  readonly store: Store;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Aborted when nobody waits for the outcome any more. Statements end by it themselves; long work between them looks at it. */
  readonly signal: AbortSignal;
  /**
   * Runs work that may fail by itself: what it did is undone, with what it told the journal and the books, and the failure is thrown on.
   * For the rows of an import.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** Declares an operation; see CONTRIBUTING.md. The name is its key in the list. */
export const operation = <I extends TSchema, O extends TSchema, P = Static<I>>(declared: Operation<Tools, I, O, P>): Operation<Tools, I, O, P> => declared;

/** What an errand works with, for one caller. */
export interface Work {
  readonly files: FileServices;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Log;
  /** Aborted when nobody waits for the outcome any more. Steps and questions to the object store end by it themselves, but for `upkeep`. */
  readonly signal: AbortSignal;
  /** A step that only looks. */
  read<T>(step: (tools: Tools) => Promise<T>): Promise<T>;
  /** A step that changes something. */
  write<T>(step: (tools: Tools) => Promise<T>): Promise<T>;
  /** A step of bookkeeping: claims and counters that are nobody's contract data, neither audited nor moving the data version. It is taken also when the time is over, so that what was claimed is given back. */
  upkeep<T>(step: (tools: Tools) => Promise<T>): Promise<T>;
  /** The last step: what it comes to is the errand's answer, and is answered again to whoever sends the same idempotency key. */
  conclude<T>(step: (tools: Tools) => Promise<T>): Promise<T>;
  /** Goes on after the answer, whoever waits no longer. What is lost with the process is taken up by a schedule. */
  afterwards(rest: () => Promise<void>): void;
}

/** Declares an errand, as `operation` declares an operation. */
export const errand = <I extends TSchema, O extends TSchema>(declared: Errand<Work, I, O>): Errand<Work, I, O> => declared;
