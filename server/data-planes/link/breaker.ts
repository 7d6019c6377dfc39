/** Failures in a row after which an agent is not called for a while. */
const MOST_FAILURES = 5;
const OPEN_MS = 5_000;
/** Failures within this time of requests that ran at the same time have the same cause. */
const TOGETHER_MS = 1_000;

/**
 * Spares callers the wait for an agent that does not respond: after five failed requests in a row, further requests fail
 * at once for five seconds; then one of them is let through, and the others follow if it is answered.
 */
export interface Breaker {
  /** Whether a request may be sent now. */
  admits(tenantId: string): boolean;
  succeeded(tenantId: string): void;
  /**
   * `since` is when the request was sent, in milliseconds of `now`. Requests that were lost together, as when their
   * connections were, count as one.
   */
  failed(tenantId: string, since: number): void;
  /** In milliseconds. */
  now(): number;
  /** After a new session was opened. */
  reset(tenantId: string): void;
}

interface Failing {
  readonly failures: number;
  readonly at: number;
  /** In milliseconds of `now`; the circuit is open until then. */
  until: number;
}

/** `now` is a monotonic time, which a test may replace. */
export function createBreaker({ now = () => performance.now() }: { readonly now?: () => number } = {}): Breaker {
  const failing = new Map<string, Failing>();
  return {
    admits: (tenantId) => {
      const it = failing.get(tenantId);
      if (!it || it.failures < MOST_FAILURES) return true;
      if (now() < it.until) return false;
      it.until = now() + OPEN_MS; // only one request finds out
      return true;
    },
    succeeded: (tenantId) => void failing.delete(tenantId),
    failed: (tenantId, since) => {
      const at = now();
      const last = failing.get(tenantId);
      if (last && since < last.at && at - last.at < TOGETHER_MS) return;
      failing.set(tenantId, { failures: (last?.failures ?? 0) + 1, at, until: at + OPEN_MS });
    },
    now,
    reset: (tenantId) => void failing.delete(tenantId),
  };
}
