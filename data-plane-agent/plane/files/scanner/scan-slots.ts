import { ClamdError } from './clamd-stream.js';

/**
 * Limits concurrency to `atOnce`. Up to `waiting` calls wait in order, further ones are rejected. A signal ends the
 * wait with its reason.
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

  const waitForSlot = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        queue.delete(begin);
        reject(signal.reason instanceof Error ? signal.reason : new ClamdError('was cancelled'));
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue.add(begin);
    });

  return async (signal, work) => {
    signal.throwIfAborted();
    if (running < atOnce) running += 1;
    else if (queue.size < waiting)
      await waitForSlot(signal); // takes over the slot of a finished call
    else throw new ClamdError('has too many files waiting');
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
