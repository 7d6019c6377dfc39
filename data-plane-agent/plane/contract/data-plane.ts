import type { Static } from '../../base/schema.js';
import type { Call } from './call.js';
import type { Operation } from './operation.js';

/** A list of operations by name. */
// The tools of an operation are nobody's business outside the data plane, and a list holds operations over the same ones.
export type OperationList = Readonly<Record<string, Operation<never>>>;

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

/** Binds a data plane to a call. `onReplay` learns that an answer was a stored one. */
export function bind<L extends OperationList>(plane: DataPlane<L>, names: readonly (keyof L & string)[], call: Call, onReplay: () => void = () => undefined): BoundPlane<L> {
  const method = (name: keyof L & string) => async (input: unknown) => {
    const answer = await plane.invoke(name, call, input as Static<L[typeof name]['input']>);
    if (answer.replayed) onReplay();
    return answer.output;
  };
  return Object.fromEntries(names.map((name) => [name, method(name)])) as unknown as BoundPlane<L>; // fromEntries forgets which name has which method
}
