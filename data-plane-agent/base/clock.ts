/** The source of the current time. Rules and operations receive a clock, so that tests can set the time. */
export interface Clock {
  /** The current instant, in milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** The system clock. Only entry points use it directly, and new ids, which it orders. */
export const systemClock: Clock = { now: () => Date.now() };
