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
}

/** Declares an operation; see CONTRIBUTING.md. The name is its key in the list. */
export const operation = <I extends TSchema, O extends TSchema>(declared: Operation<Tools, I, O>): Operation<Tools, I, O> => declared;
