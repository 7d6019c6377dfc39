import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { networkOf } from '../../data-plane-agent/base/http/network.js';

/**
 * Counts a request for a session or an address, sets the `RateLimit` headers, and throws RATE_LIMITED above the limit.
 */
export interface RateLimit {
  session(ctx: HttpContext, sessionId: string): Promise<void>;
  address(ctx: HttpContext): Promise<void>;
}

/**
 * Limits requests per minute; 0 means no limit. Each replica counts in memory, that of its supervisor if it has several
 * processes: the limit protects a replica from one caller, and a database write for every request would cost more than
 * most requests. Failed sign-ins, which must be counted across replicas and restarts, are counted in the database
 * elsewhere.
 */
export function rateLimit({
  perMinute,
  isOneOfSeveral = false,
}: {
  perMinute: number;
  /** Whether this is a process with a supervisor, which counts for all of them. */
  isOneOfSeveral?: boolean;
}): RateLimit | undefined {
  if (perMinute === 0) return undefined;
  const options = { points: perMinute, duration: 60, keyPrefix: 'requests' };
  const limiter = isOneOfSeveral ? countedBySupervisor(options) : new RateLimiterMemory(options);
  const consume = async (ctx: HttpContext, key: string): Promise<void> => {
    const { outcome, refused } = await consumeOne(limiter, key);
    const seconds = Math.max(1, Math.ceil(outcome.msBeforeNext / 1000));
    ctx.set('RateLimit-Limit', String(perMinute));
    ctx.set('RateLimit-Remaining', String(Math.max(0, outcome.remainingPoints)));
    ctx.set('RateLimit-Reset', String(seconds));
    if (refused) throw fail('RATE_LIMITED', { retryAfterSeconds: seconds });
  };
  return {
    session: (ctx, sessionId) => consume(ctx, `session ${sessionId}`),
    address: (ctx) => consume(ctx, `address ${networkOf(ctx.state.exchange.info.ip)}`),
  };
}

type Limiter = Pick<RateLimiterMemory, 'consume'>;

function countedBySupervisor(options: {
  readonly points: number;
  readonly duration: number;
  readonly keyPrefix: string;
}): Limiter {
  const own = new RateLimiterMemory(options);
  const shared = new RateLimiterCluster({ ...options, timeoutMs: SUPERVISOR_MS });
  return {
    // A supervisor that does not answer must not stop the service: the process then counts alone.
    consume: (key) =>
      shared.consume(key).catch((thrown: unknown) => {
        if (thrown instanceof RateLimiterRes) throw thrown; // the refusal itself
        return own.consume(key);
      }),
  };
}

/** How long the count of the supervisor is waited for; it answers in less than a millisecond. */
const SUPERVISOR_MS = 1_000;

async function consumeOne(limiter: Limiter, key: string): Promise<{ outcome: RateLimiterRes; refused: boolean }> {
  try {
    return { outcome: await limiter.consume(key), refused: false };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { outcome: thrown, refused: true };
    throw thrown;
  }
}
