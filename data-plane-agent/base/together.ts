/**
 * Waits for several statements, or work that consists of them, of which none depends on another: what is asked before
 * the first is awaited goes to PostgreSQL in one message. Throws the error of the first of them that fails, once all have
 * ended.
 */
export async function together<T extends readonly unknown[]>(
  ...asked: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  const ended = await Promise.allSettled(asked);
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  }) as unknown as T; // in their order
}

/** Begins work whose result is awaited later, or not at all when something else fails first. */
export function begun<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined); // its error is that of those who await it
  return work;
}

/**
 * Does work for each item, for so many `lanes` of them at once, which begin in their order. An item is asked for when a
 * lane is free. After an error no more begins; it is thrown once all that had begun has ended.
 */
export async function inLanes<T, R>(items: Iterable<T>, lanes: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items[Symbol.iterator]();
  let begun = 0;
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    while (!hasFailed) {
      const next = left.next();
      if (next.done === true) return;
      const i = begun++;
      try {
        results[i] = await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await together(...Array.from({ length: lanes }, lane));
  return results;
}
