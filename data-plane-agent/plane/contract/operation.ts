import type { Failure, FailureCode } from '../../base/failures.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { Call } from './call.js';

/** What both sides of a wire know of an operation. */
export interface Declared<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  readonly effect: 'read' | 'write';
  /** Housekeeping: it changes no contract data, so its writes are neither audited nor do they move the data version. */
  readonly isUpkeep?: true;
  /**
   * Long: of reads of this kind, and of writes of this kind, a data plane does one at a time, those of different
   * tenants by turns, so that whoever wants something short waits for one of them at most. Of writes of one tenant only
   * some wait; beyond those RATE_LIMITED.
   */
  readonly queued?: true;
  readonly input: I;
  readonly output: O;
  /** Failures of its own, beside INVALID_INPUT and NOT_FOUND, which any may report. */
  readonly fails: readonly FailureCode[];
}

/**
 * An operation is a transaction, and a message. In process, calling one opens a transaction and runs it; remotely,
 * calling one sends its name, the call and the input to the agent, which does the same. `T` is the context in which
 * `run` works: a store that is already bound to tenant, scopes and transaction, the clock, and ids.
 */
export interface Operation<T, I extends TSchema = TSchema, O extends TSchema = TSchema, P = Static<I>> extends Declared<
  I,
  O
> {
  /**
   * Of a write: what can be read and worked out before, in a snapshot of its own, for `run` to be handed instead of the
   * input. SQLite has one writer, so the less a long write does in its transaction, the shorter all others wait.
   * Whatever must still hold then is checked again by `run`.
   */
  prepare?(context: T, call: Call, input: Static<I>): Promise<P>;
  /** Must do nothing outside the transaction: it may be run again after a serialisation conflict. */
  run(context: T, call: Call, input: P): Promise<Static<O>>;
  /**
   * What stays on record of a write that was refused by rule: it runs after the refusal has undone the rest, in a
   * transaction of its own.
   */
  afterRefusal?(
    context: T,
    call: Call,
    refused: { readonly input: Static<I>; readonly failure: Failure },
  ): Promise<void>;
}

/**
 * An operation that no transaction can hold, because it deals with what is outside the database: the object store, the
 * scanner, the reader of documents. It goes in steps, each a transaction of its own and each audited as a write is. It
 * may break off between any two of them and be run again from the beginning, so every step must be good to take twice.
 * `W` is what it works with.
 */
export interface MultiStepOperation<W, I extends TSchema = TSchema, O extends TSchema = TSchema> extends Declared<
  I,
  O
> {
  perform(work: W, call: Call, input: Static<I>): Promise<Static<O>>;
}
