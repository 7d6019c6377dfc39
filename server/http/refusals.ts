import { FAILURES, isFailure, type Failure } from '../../data-plane-agent/base/failures.js';
import { principalOf } from '../access/principal.js';
import type { Refusal } from '../access/refusal.js';
import type { HttpMiddleware } from '../../data-plane-agent/base/http/exchange.js';
import { isProblem } from '../../data-plane-agent/base/http/problems.js';

/**
 * Records every 403, from any endpoint or rule. It is recorded before the answer is sent, so that a client cannot avoid
 * it by disconnecting.
 */
export function recordRefusals(record: (refusal: Refusal) => Promise<void>): HttpMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const why = reasonOf(error);
      const { info: request, route = '' } = ctx.state.exchange;
      if (why)
        await record({ principal: principalOf(ctx.state.exchange), request, route: `${ctx.method} ${route}`, ...why });
      throw error;
    }
  };
}

function reasonOf(error: unknown): Pick<Refusal, 'code' | 'needs' | 'reason'> | undefined {
  if (isFailure(error))
    return FAILURES[error.code].status === 403 ? { code: error.code, needs: neededOf(error) } : undefined;
  return isProblem(error) && error.status === 403 ? { reason: error.message } : undefined;
}

function neededOf({ details }: Failure): string | undefined {
  if ('needs' in details && typeof details.needs === 'string') return details.needs;
  return Object.keys(details).length === 0 ? undefined : JSON.stringify(details).slice(0, MAX_NEEDED);
}

const MAX_NEEDED = 500;
