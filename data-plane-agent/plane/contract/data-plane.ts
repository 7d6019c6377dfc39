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
 * The one interface between the planes. Whoever holds it cannot tell whether the operation runs in this process or behind a wire:
 * nothing in its types would not survive one. Rejects with a `Failure` of the catalogue.
 */
export interface DataPlane<L extends OperationList> {
  invoke<N extends keyof L & string>(name: N, call: Call, input: Static<L[N]['input']>): Promise<Answer<Static<L[N]['output']>>>;
}

/** The operations as methods, for one call. */
export type BoundPlane<L extends OperationList> = { readonly [N in keyof L & string]: (input: Static<L[N]['input']>) => Promise<Static<L[N]['output']>> };

/** Binds a data plane to a call. `onReplay` learns that an answer was a stored one. `names` is the same list at each call. */
export function bind<L extends OperationList>(plane: DataPlane<L>, names: readonly (keyof L & string)[], call: Call, onReplay: () => void = () => undefined): BoundPlane<L> {
  const methods = known.get(names) ?? methodsOf(names);
  return Object.assign(Object.create(methods) as Bound, { invoke: plane.invoke.bind(plane) as Bound['invoke'], call, onReplay }) as unknown as BoundPlane<L>; // the prototype has a method for each name
}

interface Bound {
  readonly invoke: (name: string, call: Call, input: unknown) => Promise<Answer<unknown>>;
  readonly call: Call;
  readonly onReplay: () => void;
}

const known = new WeakMap<readonly string[], object>();

/** One method an operation, made once for all requests. */
function methodsOf(names: readonly string[]): object {
  const methods = Object.fromEntries(
    names.map((name) => [
      name,
      async function (this: Bound, input: unknown) {
        try {
          const answer = await this.invoke(name, this.call, input);
          if (answer.replayed) this.onReplay();
          return answer.output;
        } catch (error) {
          if (isFailure(error) && error.replayed) this.onReplay();
          throw error;
        }
      },
    ]),
  );
  known.set(names, methods);
  return methods;
}
