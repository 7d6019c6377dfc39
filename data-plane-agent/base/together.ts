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
