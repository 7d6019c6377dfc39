import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from './failures.js';

export interface FairTurnsOptions {
  /** How much of one may wait; whatever he asks for beyond is refused. */
  readonly waitingOfEach?: number;
}

/** When it is worth coming back for who had too much waiting already. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Lets one piece of work run after the other. Of those who wait each has a turn in his turn, however much one of them asks for. Between two turns
 * whatever else the process has to do is done. Fails with RATE_LIMITED for who has too much waiting.
 */
export function createFairTurns({ waitingOfEach = Infinity }: FairTurnsOptions = {}): <T>(who: string, work: () => Promise<T>) => Promise<T> {
  /** Who has waited longest since his last turn is first. */
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;

  const queue = (who: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const own = waiting.get(who) ?? [];
      if (own.length >= waitingOfEach) return reject(fail('RATE_LIMITED', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      own.push(resolve);
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

  return async (who, work) => {
    if (isBusy) {
      await queue(who);
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
