import type { Clock } from '../../base/clock.js';
import type { Call } from './call.js';

/** The steps of an operation that needs several transactions. `T` is the context of each. */
export interface Steps<T> {
  readonly clock: Clock;
  readonly newId: () => string;
  /** Aborted when nobody waits for the result any more. Steps other than `upkeep` observe it. */
  readonly signal: AbortSignal;
  /** A read-only step. */
  read<R>(step: (context: T) => Promise<R>): Promise<R>;
  /** How many steps that write may run at once, if they change different rows: on SQLite one, as it has one writer. */
  readonly writesAtOnce: number;
  /** A step that writes. */
  write<R>(step: (context: T) => Promise<R>): Promise<R>;
  /**
   * A step for claims and counters, which are neither audited nor change the data version. It also runs after the
   * deadline, so that claims are released.
   */
  upkeep<R>(step: (context: T) => Promise<R>): Promise<R>;
  /** The last step. Its result is the operation's result, and is returned again for the same idempotency key. */
  conclude<R>(step: (context: T) => Promise<R>): Promise<R>;
  /**
   * As `upkeep`, before the deadline, for the step that makes known that the work has begun. If a response for the
   * idempotency key was stored meanwhile, the step is undone, the work ends, and that is the response.
   */
  announce<R>(step: (context: T) => Promise<R>): Promise<R>;
  /**
   * The work will be done whatever happens, so that "nothing was changed" would be wrong: it no longer stops when the
   * caller disconnects, and a move of the tenant's data waits for it.
   */
  keep(): void;
  /** Whether work ended because of its deadline, its caller or an unavailable database, and not because of a fault. */
  wasStopped(error: unknown): boolean;
  /** Steps in the name of an interrupted call of another operation, within the time of this one. */
  inTheNameOf(operation: string, call: Call): Steps<T>;
}
