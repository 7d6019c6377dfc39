import { setImmediate as nextTick } from 'node:timers/promises';

/** How long work may block the event loop, in milliseconds; others wait little longer than twice this. */
const SLICE_MS = 10;

/**
 * For long synchronous work, such as work on SQLite: call the returned function between its steps. It yields to the
 * event loop when the time slice is over, and not more often, since an open transaction blocks other writers. When the
 * signal aborts, it throws the signal's reason.
 */
export function yielding(signal?: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await nextTick();
    signal?.throwIfAborted();
    since = performance.now();
  };
}

/** A sequential `map` that yields to the event loop. */
export async function mapYielding<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const yieldIfDue = yielding();
  const results: R[] = [];
  for (let i = 0; i < items.length; i++) {
    results.push(await work(items[i] as T, i)); // i is within bounds
    await yieldIfDue();
  }
  return results;
}
