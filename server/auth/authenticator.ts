import { LRUCache } from 'lru-cache';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { SessionStore, type SessionHolder } from '../store/sessions.js';
import type { Changes } from '../access/changes.js';
import type { Plans } from '../access/plans.js';
import { settingsOf } from '../access/settings.js';
import { tokenRefused } from '../access/token-faults.js';
import type { EmailCodes } from './email-code.js';
import type { Principal } from '../access/principal.js';
import type { SecondFactor } from './second-factor.js';
import { isActiveAccount, owesEnrolment } from '../access/session-policy.js';
import type { TokenHolder, Tokens } from './tokens.js';

/**
 * Resolves a bearer token to the caller. Throws UNAUTHENTICATED for anything but a valid token of an active session of
 * an active member.
 */
export interface Authenticator {
  authenticate(accessToken: string, request: RequestInfo): Promise<Principal>;
  /**
   * Returns the caller's present state some time after `authenticate`, even if the token has expired since. Throws
   * UNAUTHENTICATED if the session has ended.
   */
  again(principal: Principal): Promise<Principal>;
}

export function createAuthenticator({
  database,
  clock,
  tokens,
  plans,
  changes,
  secondFactor,
  emailCodes,
}: {
  database: Database;
  clock: Clock;
  tokens: Tokens;
  plans: Plans;
  changes: Changes;
  secondFactor: Pick<SecondFactor, 'isRequired'>;
  emailCodes: Pick<EmailCodes, 'exclude'>;
}): Authenticator {
  // Promises are cached, not results, so that a caller evicted while loading is not added again.
  const callers = new LRUCache<string, Cached>({ max: 10_000 });
  changes.listen((change) => {
    if (change.kind === 'session') callers.delete(change.sessionId);
    else
      for (const [id, { tenantId, memberId }] of callers.entries())
        if (tenantId === change.tenantId && (change.kind === 'tenant' || memberId === change.memberId))
          callers.delete(id);
  });

  const load = async (sessionId: string): Promise<Caller> => {
    const holder = await database.read({ tenantId: null }, (tx) => new SessionStore(tx).holder(sessionId));
    if (!holder || holder.session.revokedAt !== null || holder.member.status !== 'active') throw tokenRefused('ended');
    if (!isActiveAccount(holder)) throw tokenRefused('suspended');
    // The permissions or the setting may have changed since the session was started: a login by email code would be
    // refused now.
    if (holder.session.byEmailCode && emailCodes.exclude(holder.role.permissions)) throw tokenRefused('ended');
    const enrolmentDue = owesEnrolment({
      way: holder.session.way,
      required: secondFactor.isRequired(holder.role.permissions),
      enrolled: holder.member.enrolled,
    });
    return { principal: principalOf(holder, { plans, enrolmentDue }), endsAt: holder.session.absoluteExpiresAt };
  };

  const callerOf = async ({ sessionId, tenantId, memberId }: TokenHolder): Promise<Principal> => {
    const now = clock.now();
    let cached = callers.get(sessionId);
    if (!cached || now - cached.at >= FRESH_MS) {
      const loading = load(sessionId);
      cached = { at: now, tenantId, memberId, caller: loading };
      callers.set(sessionId, cached);
      const askAgain = (): void => {
        if (callers.peek(sessionId)?.caller === loading) callers.delete(sessionId);
      };
      // The error is handled where the promise is awaited. A member without a required second factor may have enrolled
      // on another replica.
      loading.then(({ principal: { enrolmentDue } }) => enrolmentDue && askAgain(), askAgain);
    }
    const { principal, endsAt } = await cached.caller;
    if (endsAt <= now || principal.tenant.id !== tenantId || principal.user.id !== memberId)
      throw tokenRefused('ended');
    return principal;
  };

  return {
    authenticate: async (accessToken) => callerOf(await tokens.verifyAccess(accessToken)),
    again: ({ sessionId, tenant, user }) => callerOf({ sessionId, tenantId: tenant.id, memberId: user.id }),
  };
}

/** Changes by another replica take effect within this time, in milliseconds. */
const FRESH_MS = 5_000;

interface Caller {
  readonly principal: Principal;
  /** The absolute end of the session, in epoch milliseconds. */
  readonly endsAt: number;
}
interface Cached {
  readonly at: number;
  readonly tenantId: string;
  readonly memberId: string;
  readonly caller: Promise<Caller>;
}

function principalOf(
  { session, tenant, member, role }: SessionHolder,
  { plans, enrolmentDue }: { plans: Plans; enrolmentDue: boolean },
): Principal {
  const { slug, name, planCode } = tenant;
  const { email, roleCode, subjectScope } = member;
  return {
    sessionId: session.id,
    tenant: { id: session.tenantId, slug, name, plan: planCode },
    user: { id: session.memberId, email, name: member.name, roleCode, subjectScope },
    permissions: role.permissions,
    controls: role.workflowControls,
    features: plans.features(planCode),
    settings: settingsOf(tenant.settings),
    enrolmentDue,
    ownPages: session.ownPages,
  };
}
