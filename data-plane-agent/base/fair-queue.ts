import { setImmediate as nextTick } from 'node:timers/promises';
import { fail } from './failures.js';

export interface FairQueueOptions {
  /** How much work of one key may wait; more is refused. */
  readonly waitingOfEach?: number;
}

export type FairQueue = <T>(
  key: string,
  work: () => Promise<T>,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<T>;

/** The `Retry-After` of a refusal. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Runs one piece of work at a time. Keys (such as tenants) take turns, so that a key with much queued work does not
 * delay the others; between two pieces of work the event loop runs. Fails with RATE_LIMITED when too much work of the
 * key is queued. A signal aborts the wait with its reason, but not work that has started.
 */
export function createFairQueue({ waitingOfEach = Infinity }: FairQueueOptions = {}): FairQueue {
  /** The queued work by key. The key that has waited longest since its last turn comes first. */
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;

  const queue = (key: string, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const own = waiting.get(key) ?? [];
      if (own.length >= waitingOfEach) return reject(fail('RATE_LIMITED', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        const left = (waiting.get(key) ?? []).filter((other) => other !== begin);
        if (left.length > 0) waiting.set(key, left);
        else waiting.delete(key);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      own.push(begin);
      waiting.set(key, own);
    });
  const startNext = (): void => {
    const [first] = waiting;
    if (!first) {
      isBusy = false;
      return;
    }
    const [key, [begin, ...later]] = first;
    waiting.delete(key);
    if (later.length > 0) waiting.set(key, later);
    begin?.();
  };

  return async (key, work, { signal } = {}) => {
    signal?.throwIfAborted();
    if (isBusy) {
      await queue(key, signal);
      await nextTick();
    }
    isBusy = true;
    try {
      return await work();
    } finally {
      startNext();
    }
  };
}
