import type { Failure, FailureCode } from '../../base/failures.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { Call } from './call.js';

/**
 * An operation is a transaction, and a message. In process, calling one opens a transaction and runs it; remotely, calling one sends
 * its name, the call and the input to the agent, which does the same. `T` are the tools that `run` works with: a store that is already
 * bound to tenant, scopes and transaction, the clock, and ids.
 */
export interface Operation<T, I extends TSchema = TSchema, O extends TSchema = TSchema> {
  readonly effect: 'read' | 'write';
  /** Housekeeping: it changes no contract data, so its writes are neither audited nor do they move the data version. */
  readonly isUpkeep?: true;
  readonly input: I;
  readonly output: O;
  /** Failures of its own, beside INVALID_INPUT and NOT_FOUND, which any may report. */
  readonly fails: readonly FailureCode[];
  /** Must do nothing outside the transaction: it may be run again after a serialisation conflict. */
  run(tools: T, call: Call, input: Static<I>): Promise<Static<O>>;
  /** What stays on record of a write that was refused by rule: it runs after the refusal has undone the rest, in a transaction of its own. */
  afterRefusal?(tools: T, call: Call, input: Static<I>, failure: Failure): Promise<void>;
}
