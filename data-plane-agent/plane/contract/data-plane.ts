import { isFailure } from '../../base/failures.js';
import type { Static } from '../../base/schema.js';
import type { Call } from './call.js';
import type { Declared } from './operation.js';

/** A list of operations by name. */
// How an operation does its work is nobody's business outside the data plane.
export type OperationList = Readonly<Record<string, Declared>>;

export interface Answer<T> {
  readonly output: T;
  /** This is the stored answer to an earlier call with the same idempotency key; nothing ran. */
  readonly replayed: boolean;
}

/**
 * The one interface between the planes. Whoever holds it cannot tell whether the operation runs in this process or
 * behind a wire: nothing in its types would not survive one. Rejects with a `Failure` of the catalogue.
 */
export interface DataPlane<L extends OperationList> {
  /**
   * Ends within the call's time: DATA_PLANE_UNAVAILABLE when nothing was done, DATA_PLANE_OUTCOME_UNKNOWN when it may
   * have been. `signal` says that nobody waits any more: it ends a read and whatever waits for its turn, and a write
   * that has not begun or has no idempotency key.
   */
  invoke<N extends keyof L & string>(
    name: N,
    asking: Asking,
    input: Static<L[N]['input']>,
  ): Promise<Answer<Static<L[N]['output']>>>;
}

/** Who asks, and whether they still wait. */
export interface Asking {
  readonly call: Call;
  readonly signal?: AbortSignal | undefined;
}

/** The operations as methods, for one call. */
export type BoundPlane<L extends OperationList> = {
  readonly [N in keyof L & string]: (input: Static<L[N]['input']>) => Promise<Static<L[N]['output']>>;
};

export interface Binding<L extends OperationList, N extends keyof L & string = keyof L & string> {
  readonly operations: L;
  /** Those of the list that are offered; all of them, unless it says otherwise. It is the same array at each call. */
  readonly only?: readonly N[] | undefined;
  /** Learns that an answer was a stored one. */
  readonly onReplay?: (() => void) | undefined;
  /** Says that nobody waits any more. It ends what only reads; what is to be written is written. */
  readonly signal?: AbortSignal | undefined;
}

/** Binds a data plane to a call. */
export function bind<L extends OperationList, N extends keyof L & string = keyof L & string>(
  plane: DataPlane<L>,
  call: Call,
  { operations, only, onReplay, signal }: Binding<L, N>,
): Pick<BoundPlane<L>, N> {
  const methods = methodsOf(operations, only);
  return Object.assign(Object.create(methods) as Bound, {
    invoke: plane.invoke.bind(plane) as Bound['invoke'],
    call,
    onReplay,
    signal,
  }) as unknown as Pick<BoundPlane<L>, N>; // the prototype has a method for each name
}

interface Bound {
  readonly invoke: (name: string, asking: Asking, input: unknown) => Promise<Answer<unknown>>;
  readonly call: Call;
  readonly onReplay: (() => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const known = new WeakMap<object, object>();

/** One method an operation, made once for all requests. */
function methodsOf(operations: OperationList, only: readonly string[] | undefined): object {
  const made = known.get(only ?? operations);
  if (made) return made;
  const methods = Object.fromEntries(
    Object.entries(operations)
      .filter(([name]) => only?.includes(name) ?? true)
      .map(([name, { effect }]) => [name, method(name, effect)]),
  );
  known.set(only ?? operations, methods);
  return methods;
}

const method = (name: string, effect: Declared['effect']) =>
  async function (this: Bound, input: unknown) {
    try {
      const answer = await this.invoke(
        name,
        { call: this.call, signal: effect === 'read' ? this.signal : undefined },
        input,
      );
      if (answer.replayed) this.onReplay?.();
      return answer.output;
    } catch (error) {
      if (isFailure(error) && error.replayed) this.onReplay?.();
      throw error;
    }
  };
