import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
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
 * Limits requests per minute; 0 means no limit. Each process counts in memory: the limit protects a process from one
 * caller, and a database write for every request would cost more than most requests. Failed sign-ins, which must be
 * counted across replicas and restarts, are counted in the database elsewhere.
 */
export function rateLimit({ perMinute }: { perMinute: number }): RateLimit | undefined {
  if (perMinute === 0) return undefined;
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
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

async function consumeOne(
  limiter: RateLimiterMemory,
  key: string,
): Promise<{ outcome: RateLimiterRes; refused: boolean }> {
  try {
    return { outcome: await limiter.consume(key), refused: false };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { outcome: thrown, refused: true };
    throw thrown;
  }
}
