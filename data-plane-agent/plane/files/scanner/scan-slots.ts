import { ClamdError } from './clamd-stream.js';

/**
 * Runs so many pieces of work at once; others wait in their order, and those beyond the limit are refused. A signal
 * ends the wait with its reason.
 */
export function createScanSlots({
  atOnce,
  waiting,
}: {
  readonly atOnce: number;
  readonly waiting: number;
}): <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const queue = new Set<() => void>();

  const turn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        queue.delete(begin);
        reject(signal.reason instanceof Error ? signal.reason : new ClamdError('was called off'));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue.add(begin);
    });

  return async (signal, work) => {
    signal.throwIfAborted();
    if (running < atOnce) running += 1;
    else if (queue.size < waiting)
      await turn(signal); // takes over the place of one that ends
    else throw new ClamdError('has more files waiting than it can take');
    try {
      return await work();
    } finally {
      const [next] = queue;
      if (next) {
        queue.delete(next);
        next();
      } else {
        running -= 1;
      }
    }
  };
}
