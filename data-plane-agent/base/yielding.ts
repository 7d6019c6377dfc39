import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long long work goes on before others get their turn, in milliseconds: nobody waits much longer than twice this.
 */
const SLICE_MS = 10;

/**
 * For long work on SQLite, in which nothing waits by itself: call what this answers between its steps. It lets whoever
 * waits go first, as often as needed and not more often, since a transaction that is open keeps other writers waiting.
 * A signal ends the work there, with its reason.
 */
export function yielding(signal?: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await nextTurn();
    signal?.throwIfAborted();
    since = performance.now();
  };
}

/** `map` over thousands, one after the other, with turns for others between them. */
export async function mapYielding<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const turn = yielding();
  const results: R[] = [];
  for (let i = 0; i < items.length; i++) {
    results.push(await work(items[i] as T, i)); // there is one at each place
    await turn();
  }
  return results;
}
