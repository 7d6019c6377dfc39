const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The delay after each failed attempt except the last: eight attempts within a day. */
const RETRIES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS];
/**
 * The largest fraction by which a delay is shortened, so that messages that failed together are not retried together.
 */
const JITTER = 0.1;

/**
 * When to attempt a message again, of which `attempts` failed; `null` when none is left. A longer delay requested by the
 * receiver is respected. All times in epoch milliseconds.
 */
export function retryAt(
  { id, attempts }: { readonly id: string; readonly attempts: number },
  { now, retryAfterMs }: { readonly now: number; readonly retryAfterMs: number | null },
): number | null {
  const wait = RETRIES_MS[attempts - 1];
  if (wait === undefined) return null;
  return now + Math.max(retryAfterMs ?? 0, Math.round(wait * (1 - JITTER * spreadOf(id))));
}

/** A value from 0 to 1, derived from the random end of an id. */
const spreadOf = (id: string): number => Number.parseInt(id.slice(-6), 16) / 0xff_ff_ff;
