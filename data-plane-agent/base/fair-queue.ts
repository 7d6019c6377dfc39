import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from './failures.js';

export interface FairQueueOptions {
  /** How much of one may wait; whatever he asks for beyond is refused. */
  readonly waitingOfEach?: number;
}

export type FairQueue = <T>(
  who: string,
  work: () => Promise<T>,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<T>;

/** When it is worth coming back for who had too much waiting already. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Lets one piece of work run after the other. Of those who wait each has a turn in his turn, however much one of them
 * asks for. Between two turns whatever else the process has to do is done. Fails with RATE_LIMITED for who has too much
 * waiting. A signal ends the wait with its reason, and not the turn.
 */
export function createFairQueue({ waitingOfEach = Infinity }: FairQueueOptions = {}): FairQueue {
  /** Who has waited longest since his last turn is first. */
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;

  const queue = (who: string, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const own = waiting.get(who) ?? [];
      if (own.length >= waitingOfEach) return reject(fail('RATE_LIMITED', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        const left = (waiting.get(who) ?? []).filter((other) => other !== begin);
        if (left.length > 0) waiting.set(who, left);
        else waiting.delete(who);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      own.push(begin);
      waiting.set(who, own);
    });
  const handOn = (): void => {
    const [first] = waiting;
    if (!first) {
      isBusy = false;
      return;
    }
    const [who, [begin, ...later]] = first;
    waiting.delete(who);
    if (later.length > 0) waiting.set(who, later);
    begin?.();
  };

  return async (who, work, { signal } = {}) => {
    signal?.throwIfAborted();
    if (isBusy) {
      await queue(who, signal);
      await nextTurn();
    }
    isBusy = true;
    try {
      return await work();
    } finally {
      handOn();
    }
  };
}
