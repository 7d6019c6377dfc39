import type { Failure, FailureCode } from '../../base/failures.js';
import type { Static, TSchema } from '../../base/schema.js';
import type { Call } from './call.js';
import type { Steps } from './steps.js';

/** The declaration of an operation, known to both planes. */
export interface Declared<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  readonly effect: 'read' | 'write';
  /**
   * Maintenance work: it changes no contract data, so its writes are not audited and the data version stays unchanged.
   */
  readonly isUpkeep?: true;
  /**
   * For long operations: a data plane runs one queued read and one queued write at a time, and tenants take turns, so
   * that short operations wait for at most one of them. Too many queued writes of a tenant fail with RATE_LIMITED.
   */
  readonly queued?: true;
  /**
   * While the tenant's data is moved, other operations are refused. `always`: a step of the move. `settling`: records the
   * end of work that had begun before, and is refused once the data is copied.
   */
  readonly whileMoving?: 'always' | 'settling';
  /**
   * Whether work on this input takes seconds: a host may run it in another thread, since long work, and above all the
   * commit of many changes to SQLite, would delay other requests.
   */
  isLong?(input: Static<I>): boolean;
  readonly input: I;
  readonly output: O;
  /** The failures of this operation, in addition to INVALID_INPUT and NOT_FOUND, which any operation may report. */
  readonly fails: readonly FailureCode[];
}

/**
 * An operation is both a transaction and a message. In process, a call opens a transaction and runs it; remotely, it
 * sends name, call and input to the agent, which does the same. `T` is the context of `run`: a store bound to tenant,
 * scopes and transaction, the clock, and ids.
 */
export interface Operation<T, I extends TSchema = TSchema, O extends TSchema = TSchema, P = Static<I>> extends Declared<
  I,
  O
> {
  /**
   * For a write: reads and computes in advance, in its own snapshot; `run` gets the result instead of the input. SQLite
   * has one writer, so shorter write transactions block others less. `run` must check again what may have changed.
   */
  prepare?(context: T, call: Call, input: Static<I>): Promise<P>;
  /**
   * For a write: does the work of `run` on a long input (see `isLong`) in several transactions, so that others can write
   * in between. Once any of it is committed, it must be finished, if need be by a job.
   */
  inSteps?(steps: Steps<T>, call: Call, input: Static<I>): Promise<Static<O>>;
  /**
   * For a write that many do at once: on PostgreSQL it may share its transaction with others of its tenant. It reads what
   * such operations change only for rows that it locks with the contract, or for warnings.
   */
  readonly mayShare?: true;
  /**
   * For a read whose answer depends on nothing but the tenant's data, the input and the caller's view, which is the call
   * without what identifies the request and the person: no clock, no other source. It is kept until the data version
   * moves, so no upkeep may change what it reads.
   */
  readonly isKept?: true;
  /** Must have no effects outside the transaction: it may be run again after a serialisation conflict. */
  run(context: T, call: Call, input: P): Promise<Static<O>>;
  /** Records a refused write: runs in its own transaction after the refusal has rolled back the rest. */
  afterRefusal?(
    context: T,
    call: Call,
    refused: { readonly input: Static<I>; readonly failure: Failure },
  ): Promise<void>;
}

/**
 * An operation that needs several transactions, mostly because it uses services outside the database (object store,
 * scanner, document reader). Each step is one transaction, audited like a write. The operation may be interrupted between
 * steps and run again from the start, so every step must be repeatable. `W` is its context.
 */
export interface MultiStepOperation<W, I extends TSchema = TSchema, O extends TSchema = TSchema> extends Declared<
  I,
  O
> {
  perform(work: W, call: Call, input: Static<I>): Promise<Static<O>>;
}
