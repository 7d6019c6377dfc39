const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * How a message stands: it waits (also while somebody has it), was handed over, was given up on, or had no use any more
 * before anybody could.
 */
export const MESSAGE_STATES = ['queued', 'settled', 'failed', 'expired'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/**
 * A message that was not handed over so long after it was due is of no use to anybody. Longer than all tries together.
 */
export const KEPT_QUEUED_MS = 48 * HOUR_MS;
/** So long after it was written a message stays on record that waits no more. */
export const KEPT_OVER_MS = 90 * 24 * HOUR_MS;

/** After each failed try but the last: eight tries within a day. */
const RETRIES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS];
/**
 * Of a wait: by so much it is shorter for one message than for another, so that those that failed together do not come
 * back together.
 */
const JITTER = 0.1;

/**
 * When to try again after so many tries; `null` when none is left. A receiver that says when is heard, within what is
 * left of the message's time.
 */
export function retryAt(
  { id, attempts }: { readonly id: string; readonly attempts: number },
  { now, retryAfterMs }: { readonly now: number; readonly retryAfterMs: number | null },
): number | null {
  const wait = RETRIES_MS[attempts - 1];
  if (wait === undefined) return null;
  return now + Math.max(retryAfterMs ?? 0, Math.round(wait * (1 - JITTER * spreadOf(id))));
}

/** From 0 to 1, by the random end of an id. */
const spreadOf = (id: string): number => Number.parseInt(id.slice(-6), 16) / 0xff_ff_ff;
