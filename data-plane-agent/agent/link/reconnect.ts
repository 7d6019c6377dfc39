/** The longest of the first delays, and of any. */
const FIRST_MS = 16_000;
const LONGEST_MS = 60_000;
export const SHORTEST_MS = 1_000;
/** A connection that lasted as long has shown that connecting works. */
export const HEALTHY_MS = 60_000;
/** The delay after a refusal that only a person can end. */
export const REFUSED_MS = 5 * 60_000;

/** The delays between the attempts to connect. */
export interface Backoff {
  next(): number;
  /** Begins again with short delays. */
  reset(): void;
}

/**
 * Full jitter: a delay is random between one second and a limit, which doubles up to a minute. The first limit is
 * already 16 seconds: after a restart of the control plane no second gets more than a tenth of all agents.
 */
export function createBackoff(random: () => number): Backoff {
  let failures = 0;
  return {
    next: () => {
      const limit = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
      failures += 1;
      return SHORTEST_MS + random() * (limit - SHORTEST_MS);
    },
    reset: () => {
      failures = 0;
    },
  };
}
