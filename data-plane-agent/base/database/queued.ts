import type { Deadline } from '../deadline.js';

/**
 * Waits in a queue and leaves it with an error if the deadline passes first. The deadline has no effect once the entry
 * has been taken from the queue.
 */
export function queued<T, W>(
  queue: W[],
  enter: (resolve: (value: T) => void, reject: (reason: unknown) => void) => W,
  deadline: Deadline | undefined,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const signal = deadline?.signal;
    const leave = (): void => {
      const at = queue.indexOf(waiting);
      if (at === -1) return;
      queue.splice(at, 1);
      reject(signal?.reason as Error);
    };
    const over = (): void => signal?.removeEventListener('abort', leave);
    const waiting = enter(
      (value) => {
        over();
        resolve(value);
      },
      (reason) => {
        over();
        reject(reason as Error);
      },
    );
    signal?.addEventListener('abort', leave, { once: true });
    queue.push(waiting);
  });
}
