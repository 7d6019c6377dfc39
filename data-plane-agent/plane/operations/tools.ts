import type { Clock } from '../../base/clock.js';
import type { TSchema } from '../../base/schema.js';
import type { Operation } from '../contract/operation.js';
import type { Journal } from '../store/journal.js';
import type { Store } from '../store/store.js';

/** What an operation works with. Everything in here is bound to one tenant, one caller and one transaction. */
export interface Tools {
  readonly store: Store;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly newId: () => string;
  /**
   * Runs work that may fail by itself: what it did is undone, with what it told the journal and the books, and the failure is thrown on.
   * For the rows of an import.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** Declares an operation; see CONTRIBUTING.md. The name is its key in the list. */
export const operation = <I extends TSchema, O extends TSchema, P = unknown>(declared: Operation<Tools, I, O, P>): Operation<Tools, I, O, P> => declared;
