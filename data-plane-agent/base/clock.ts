/** Where the time comes from. Rules and operations are handed a clock, so that a test can choose the moment. */
export interface Clock {
  /** The present instant, in milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** The machine's clock. Nothing else outside a `main` reads the time by itself. */
export const systemClock: Clock = { now: () => Date.now() };
