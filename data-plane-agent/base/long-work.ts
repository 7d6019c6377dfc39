/** How many pieces of long work threads do just now. */
let inThreads = 0;
const listeners = new Set<() => void>();

/** Whether a thread does long work, of which the event loop of the process shows nothing. */
export const isLongWorkUnderWay = (): boolean => inThreads > 0;

/** Calls `begun` whenever long work begins or goes on, until the returned function is called. */
export function onLongWork(begun: () => void): () => void {
  listeners.add(begun);
  return () => void listeners.delete(begun);
}

/** To be called when long work begins, or goes on. */
export function noteLongWork(): void {
  for (const begun of listeners) begun();
}

/** Does long work in a thread. */
export async function asLongWork<T>(work: () => Promise<T>): Promise<T> {
  inThreads++;
  noteLongWork();
  try {
    return await work();
  } finally {
    inThreads--;
  }
}
