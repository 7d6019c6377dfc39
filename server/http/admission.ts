import { fail, isFailure } from '../../data-plane-agent/base/failures.js';
import type { Authenticator } from '../auth/authenticator.js';
import { meets, needText, type Feature } from '../access/permissions.js';
import { isAsking, type Principal } from '../access/principal.js';
import type { Endpoint } from './endpoint.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import type { RateLimit } from './rate-limit.js';

/**
 * Lets a caller in, or throws: 429, 401, 403 for a second factor that is owed, 403 for the plan's feature, 403 for the
 * module, in this order. `undefined` on public endpoints.
 */
export interface Admission {
  enter(ctx: HttpContext): Promise<Principal | undefined>;
  /**
   * The same once the body has come, without being counted: a body may be two minutes under way, and who sends the last
   * of it after their session has ended or their rights have gone is not let in by what held when they began.
   */
  stillIn(ctx: HttpContext, principal: Principal): Promise<Principal>;
  /**
   * The same while an answer goes out piece by piece, which takes as long as the client likes: throws also where they
   * may see other things by now.
   */
  stillSees(ctx: HttpContext, principal: Principal): Promise<void>;
}

export function admission(
  endpoint: Endpoint,
  { authenticator, limit }: { authenticator: Authenticator; limit: RateLimit | undefined },
): Admission {
  const { needs } = endpoint;
  if (needs === 'public') {
    return {
      enter: async (ctx) => {
        await limit?.address(ctx);
        return undefined;
      },
      stillIn: (_ctx, principal) => Promise.resolve(principal),
      stillSees: () => Promise.resolve(),
    };
  }
  const features = featuresOf(endpoint);
  const opensWithoutFactor = isInAuth(endpoint);
  const check = (principal: Principal): Principal => {
    if (principal.enrolmentDue && !opensWithoutFactor) throw fail('MFA_ENROLMENT_REQUIRED', {});
    for (const feature of features)
      if (!principal.features[feature] && !(feature === 'apiAccess' && principal.ownPages))
        throw fail('PLAN_FEATURE_NOT_ENABLED', { feature });
    if (needs !== 'signed_in' && !meets(principal.permissions, needs))
      throw fail('FORBIDDEN', { needs: needText(needs) });
    return principal;
  };
  const stillIn: Admission['stillIn'] = async (ctx, began) => {
    const principal = await authenticator.again(began);
    isAsking(ctx.state.exchange, principal);
    return check(principal);
  };
  return {
    enter: async (ctx) => {
      const principal = await identify(ctx, { authenticator, limit });
      isAsking(ctx.state.exchange, principal);
      await limit?.session(ctx, principal.sessionId);
      return check(principal);
    },
    stillIn,
    stillSees: async (ctx, began) => {
      const principal = await stillIn(ctx, began);
      if (principal !== began && sightOf(principal) !== sightOf(began)) throw fail('UNAUTHENTICATED', {});
    },
  };
}

/** What decides which contracts somebody sees, and how much of them. */
const sightOf = ({
  user: { roleCode, subjectScope },
  permissions,
  settings: { ownerScopeEnabled },
}: Principal): string => JSON.stringify([roleCode, subjectScope, permissions, ownerScopeEnabled]);

/**
 * `apiAccess` is asked of every endpoint that needs a caller, outside /auth and /health, and does not bind our own
 * pages.
 */
export function featuresOf(endpoint: Endpoint): readonly Feature[] {
  const path = endpoint.route.slice(endpoint.route.indexOf('/'));
  const exempt = endpoint.needs === 'public' || /^\/(auth|health)(\/|$)/.test(path);
  return [...(exempt ? [] : (['apiAccess'] as const)), ...(endpoint.feature ? [endpoint.feature] : [])];
}

/** Under `/auth` everyone with a session gets on, so that who owes a second factor can make up for it. */
export const isInAuth = ({ route }: Pick<Endpoint, 'route'>): boolean => /^\w+ \/auth\//.test(route);

async function identify(
  ctx: HttpContext,
  { authenticator, limit }: { authenticator: Authenticator; limit: RateLimit | undefined },
): Promise<Principal> {
  try {
    const token = BEARER.exec(ctx.req.headers.authorization ?? '')?.[1];
    if (token === undefined) throw fail('UNAUTHENTICATED', {});
    return await authenticator.authenticate(token, ctx.state.exchange.info);
  } catch (error) {
    // Who has no session is counted by address, so that guessing tokens has a ceiling too.
    if (isFailure(error, 'UNAUTHENTICATED')) await limit?.address(ctx);
    throw error;
  }
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,60000}=*)$/i;
