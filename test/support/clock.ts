import type { Clock } from '../../data-plane-agent/base/clock.js';

/** A clock that stands still until the test moves it. */
export interface FakeClock extends Clock {
  /** Advances the clock by milliseconds. */
  advance(ms: number): void;
  /** Sets the clock to an instant: epoch milliseconds or ISO text. */
  set(instant: number | string): void;
}

/** Starts at the given instant (epoch milliseconds or ISO text). */
export function fakeClock(start: number | string = '2026-03-15T08:00:00.000Z'): FakeClock {
  let instant = epochMs(start);
  return {
    now: () => instant,
    advance: (ms) => {
      instant += ms;
    },
    set: (next) => {
      instant = epochMs(next);
    },
  };
}

/** Starts at the given instant and runs on, for what is paced. */
export function runningClock(start: string): Clock {
  const from = epochMs(start);
  const began = performance.now();
  return { now: () => from + Math.floor(performance.now() - began) };
}

function epochMs(instant: number | string): number {
  const ms = typeof instant === 'number' ? instant : Date.parse(instant);
  if (!Number.isFinite(ms)) throw new RangeError(`not an instant: ${instant}`);
  return ms;
}
