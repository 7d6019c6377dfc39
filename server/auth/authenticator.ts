import { LRUCache } from 'lru-cache';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { SessionStore, type SessionHolder } from '../store/sessions.js';
import type { Changes } from '../access/changes.js';
import type { Plans } from '../access/plans.js';
import { settingsOf } from '../access/settings.js';
import type { EmailCodes } from './email-code.js';
import type { Principal } from '../access/principal.js';
import type { SecondFactor } from './second-factor.js';
import { isActiveAccount, owesEnrolment } from '../access/session-policy.js';
import type { TokenHolder, Tokens } from './tokens.js';

/**
 * Turns a bearer token into a caller. Throws UNAUTHENTICATED for anything but a valid token of a live session of an
 * active member.
 */
export interface Authenticator {
  authenticate(accessToken: string, request: RequestInfo): Promise<Principal>;
  /**
   * The caller as they are by now, some time after they were let in, whether or not their token is over. Throws
   * UNAUTHENTICATED where their session has ended.
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
  // The promise is kept, not its result: a caller that is dropped while it loads cannot come back when it is done.
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
    if (!holder || holder.session.revokedAt !== null || !isActiveAccount(holder)) throw fail('UNAUTHENTICATED', {});
    // The rights have come since, or the setting has changed: by this way in there would be no session now.
    if (holder.session.byEmailCode && emailCodes.exclude(holder.role.permissions)) throw fail('UNAUTHENTICATED', {});
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
      // Of a failure whoever waits for it is told. Who owes an enrolment may have made up for it at another replica.
      loading.then(({ principal: { enrolmentDue } }) => enrolmentDue && askAgain(), askAgain);
    }
    const { principal, endsAt } = await cached.caller;
    if (endsAt <= now || principal.tenant.id !== tenantId || principal.user.id !== memberId)
      throw fail('UNAUTHENTICATED', {});
    return principal;
  };

  return {
    authenticate: async (accessToken) => callerOf(await tokens.verifyAccess(accessToken)),
    again: ({ sessionId, tenant, user }) => callerOf({ sessionId, tenantId: tenant.id, memberId: user.id }),
  };
}

/** What another replica changes is seen within this time, in milliseconds. */
const FRESH_MS = 5_000;

interface Caller {
  readonly principal: Principal;
  /** The session's absolute end. */
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
