import { fail, isFailure } from '../../data-plane-agent/base/failures.js';
import type { Authenticator } from '../auth/authenticator.js';
import { meets, needText, type Feature } from '../access/permissions.js';
import type { Plans } from '../access/plans.js';
import { setPrincipal, type Principal } from '../access/principal.js';
import { tokenRefused } from '../access/token-faults.js';
import type { Endpoint } from './endpoint.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import type { RateLimit } from './rate-limit.js';

/**
 * Admits a caller or throws, in this order: 429, 401, 403 for a missing second factor, 403 for the plan's feature, 403
 * for the module. Returns `undefined` on public endpoints.
 */
export interface Admission {
  enter(ctx: HttpContext): Promise<Principal | undefined>;
  /**
   * Repeats the checks after the body has been read, without counting the request again: a body may take two minutes to
   * arrive, and the session may have ended or the permissions changed since `enter`.
   */
  recheck(ctx: HttpContext, principal: Principal): Promise<Principal>;
  /**
   * Repeats the checks while an answer is streamed, which may take arbitrarily long. Also throws if the caller's
   * visibility of contracts has changed.
   */
  recheckVisibility(ctx: HttpContext, principal: Principal): Promise<void>;
}

export function admission(
  endpoint: Endpoint,
  { authenticator, plans, limit }: { authenticator: Authenticator; plans: Plans; limit: RateLimit | undefined },
): Admission {
  const { needs } = endpoint;
  if (needs === 'public') {
    return {
      enter: async (ctx) => {
        await limit?.address(ctx);
        return undefined;
      },
      recheck: (_ctx, principal) => Promise.resolve(principal),
      recheckVisibility: () => Promise.resolve(),
    };
  }
  const features = featuresOf(endpoint);
  const opensWithoutFactor = isInAuth(endpoint);
  const check = (principal: Principal): Principal => {
    if (principal.enrolmentDue && !opensWithoutFactor) throw fail('MFA_ENROLMENT_REQUIRED', {});
    for (const feature of features)
      if (!principal.features[feature] && !(feature === 'apiAccess' && principal.ownPages))
        throw fail('PLAN_FEATURE_NOT_ENABLED', plans.refusal({ feature, tenantSlug: principal.tenant.slug }));
    if (needs !== 'signed_in' && !meets(principal.permissions, needs))
      throw fail('FORBIDDEN', { needs: needText(needs) });
    return principal;
  };
  const recheck: Admission['recheck'] = async (ctx, began) => {
    const principal = await authenticator.again(began);
    setPrincipal(ctx.state.exchange, principal);
    return check(principal);
  };
  return {
    enter: async (ctx) => {
      const principal = await identify(ctx, { authenticator, limit });
      setPrincipal(ctx.state.exchange, principal);
      await limit?.session(ctx, principal.sessionId);
      return check(principal);
    },
    recheck,
    recheckVisibility: async (ctx, began) => {
      const principal = await recheck(ctx, began);
      if (principal !== began && visibilityOf(principal) !== visibilityOf(began)) throw fail('UNAUTHENTICATED', {});
    },
  };
}

/** The values that decide which contracts a caller sees, and which of their fields. */
const visibilityOf = ({
  user: { roleCode, subjectScope },
  permissions,
  settings: { ownerScopeEnabled },
}: Principal): string => JSON.stringify([roleCode, subjectScope, permissions, ownerScopeEnabled]);

/**
 * `apiAccess` is required for every endpoint that needs a caller, outside /auth and /health. It does not apply to
 * requests of our own pages.
 */
export function featuresOf(endpoint: Endpoint): readonly Feature[] {
  const path = endpoint.route.slice(endpoint.route.indexOf('/'));
  const exempt = endpoint.needs === 'public' || /^\/(auth|health)(\/|$)/.test(path);
  return [...(exempt ? [] : (['apiAccess'] as const)), ...(endpoint.feature ? [endpoint.feature] : [])];
}

/** Under `/auth` every session is admitted, so that callers without a required second factor can enrol one. */
export const isInAuth = ({ route }: Pick<Endpoint, 'route'>): boolean => /^\w+ \/auth\//.test(route);

async function identify(
  ctx: HttpContext,
  { authenticator, limit }: { authenticator: Authenticator; limit: RateLimit | undefined },
): Promise<Principal> {
  try {
    const { authorization = '' } = ctx.req.headers;
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) throw tokenRefused(MALFORMED.test(authorization) ? 'foreign' : 'missing');
    return await authenticator.authenticate(token, ctx.state.exchange.info);
  } catch (error) {
    // Requests without a session are counted by address, which limits guessing of tokens.
    if (isFailure(error, 'UNAUTHENTICATED')) await limit?.address(ctx);
    throw error;
  }
}

/** The scheme with something that is not a token. */
const MALFORMED = /^Bearer +[^ ]/i;
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,60000}=*)$/i;
