import type { Clock } from '../../data-plane-agent/base/clock.js';

/** A clock that stands at an earlier instant during some work, whose records get that time. */
export interface DatedClock extends Clock {
  during<T>(instant: number, work: () => Promise<T>): Promise<T>;
}

export function datedClock(clock: Clock): DatedClock {
  let earlier: number | undefined;
  return {
    now: () => earlier ?? clock.now(),
    during: async (instant, work) => {
      earlier = instant;
      try {
        return await work();
      } finally {
        earlier = undefined;
      }
    },
  };
}
