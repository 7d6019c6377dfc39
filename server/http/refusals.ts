import { fail, FAILURES, isFailure, type Failure } from '../../data-plane-agent/base/failures.js';
import { heldText } from '../access/permissions.js';
import { principalOf, type Principal } from '../access/principal.js';
import type { Refusal } from '../access/refusal.js';
import type { HttpMiddleware } from '../../data-plane-agent/base/http/exchange.js';
import { isProblem } from '../../data-plane-agent/base/http/problems.js';

/**
 * Records every 403, from any endpoint or rule. It is recorded before the answer is sent, so that a client cannot avoid
 * it by disconnecting. The answer names the caller's role and what it has, which the data plane does not know.
 */
export function recordRefusals(record: (refusal: Refusal) => Promise<void>): HttpMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const why = reasonOf(error);
      const { info: request, route = '' } = ctx.state.exchange;
      const principal = principalOf(ctx.state.exchange);
      if (why) await record({ principal, request, route: `${ctx.method} ${route}`, ...why });
      throw principal ? withHeld(error, principal) : error;
    }
  };
}

function reasonOf(error: unknown): Pick<Refusal, 'code' | 'needs' | 'reason'> | undefined {
  if (isFailure(error))
    return FAILURES[error.code].status === 403 ? { code: error.code, needs: neededOf(error) } : undefined;
  return isProblem(error) && error.status === 403 ? { reason: error.message } : undefined;
}

/** The error, with the caller's role and what it has. */
function withHeld(error: unknown, { user: { roleCode: role }, permissions }: Principal): unknown {
  if (isFailure(error, 'FORBIDDEN')) {
    const { needs } = error.details;
    const has = heldText(needs, permissions);
    return fail('FORBIDDEN', { needs, role, ...(has !== undefined && { has }) }, { cause: error });
  }
  if (isFailure(error, 'WORKFLOW_CONTROL_REQUIRED') || isFailure(error, 'FIELD_NOT_EDITABLE'))
    return fail(error.code, { ...error.details, role }, { cause: error });
  return error;
}

function neededOf(failure: Failure): string | undefined {
  const { details } = failure;
  if (isFailure(failure, 'FORBIDDEN')) return failure.details.needs;
  if (isFailure(failure, 'PLAN_FEATURE_NOT_ENABLED')) return JSON.stringify({ feature: failure.details.feature });
  return Object.keys(details).length === 0 ? undefined : JSON.stringify(details).slice(0, MAX_NEEDED);
}

const MAX_NEEDED = 500;
