import { isFailure } from '../../base/failures.js';
import type { Static } from '../../base/schema.js';
import type { Call } from './call.js';
import type { Declared } from './operation.js';

/** A list of operations by name. */
// Only the declarations: the implementation is private to the data plane.
export type OperationList = Readonly<Record<string, Declared>>;

export interface Answer<T> {
  readonly output: T;
  /** True for the stored response of an earlier call with the same idempotency key; nothing ran. */
  readonly replayed: boolean;
}

/**
 * The only interface between the planes. Callers cannot tell whether operations run in this process or over a network:
 * all its types can be serialized. Rejects with a `Failure` of the catalogue.
 */
export interface DataPlane<L extends OperationList> {
  /**
   * Completes within the call's timeout: DATA_PLANE_UNAVAILABLE if nothing was changed, DATA_PLANE_OUTCOME_UNKNOWN if
   * it may have been. `signal` reports that the caller has disconnected: it aborts reads, queued work, and writes that
   * have not started or have no idempotency key.
   */
  invoke<N extends keyof L & string>(
    name: N,
    asking: Asking,
    input: Static<L[N]['input']>,
  ): Promise<Answer<Static<L[N]['output']>>>;
}

/** The call, and a signal for when the caller disconnects. */
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
  /** The operations to offer, by default all. Pass the same array each time: methods are cached by it. */
  readonly only?: readonly N[] | undefined;
  /** Called when a response was a stored one. */
  readonly onReplay?: (() => void) | undefined;
  /** Reports that the caller has disconnected. It aborts reads; writes complete. */
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
  }) as unknown as Pick<BoundPlane<L>, N>; // the prototype has a method per name
}

interface Bound {
  readonly invoke: (name: string, asking: Asking, input: unknown) => Promise<Answer<unknown>>;
  readonly call: Call;
  readonly onReplay: (() => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const known = new WeakMap<object, object>();

/** One method per operation, created once for all requests. */
function methodsOf(operations: OperationList, only: readonly string[] | undefined): object {
  const cached = known.get(only ?? operations);
  if (cached) return cached;
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
