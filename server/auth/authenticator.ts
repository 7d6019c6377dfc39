import { LRUCache } from 'lru-cache';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Row } from '../../data-plane-agent/base/database/database.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { presentHolder, type SessionHolder } from '../store/sessions.js';
import type { Changes } from '../access/changes.js';
import type { Plans } from '../access/plans.js';
import { settingsOf } from '../access/settings.js';
import { tokenRefused } from '../access/token-faults.js';
import type { Directory } from '../tenants/directory.js';
import type { EmailCodes } from './email-code.js';
import type { Principal } from '../access/principal.js';
import type { SecondFactor } from './second-factor.js';
import { isActiveAccount, owesEnrolment } from '../access/session-policy.js';
import type { TokenHolder, Tokens } from './tokens.js';

/**
 * Resolves a bearer token to the caller. Throws UNAUTHENTICATED for anything but a valid token of an active session of
 * an active member. What is committed when it is called decides, by whichever process.
 */
export interface Authenticator {
  authenticate(accessToken: string, request: RequestInfo): Promise<Principal>;
  /**
   * Returns the caller's state some time after `authenticate`, at most a second old, even if the token has expired since.
   * Throws UNAUTHENTICATED if the session has ended.
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
  directory,
}: {
  database: Database;
  clock: Clock;
  tokens: Tokens;
  plans: Plans;
  changes: Changes;
  secondFactor: Pick<SecondFactor, 'isRequired'>;
  emailCodes: Pick<EmailCodes, 'exclude'>;
  directory: Pick<Directory, 'seen'>;
}): Authenticator {
  const callers = new LRUCache<string, Cached>({ max: 10_000 });
  let loads = 0;
  /** The last load that had begun when this process changed something: what it and those before it read is old. */
  let outdated = 0;
  changes.listen((change) => {
    outdated = loads;
    if (change.kind === 'session') callers.delete(change.sessionId);
    else
      for (const [id, { tenantId, memberId }] of callers.entries())
        if (tenantId === change.tenantId && (change.kind === 'tenant' || memberId === change.memberId))
          callers.delete(id);
  });

  const callerIn = (holder: SessionHolder): Principal => {
    if (holder.session.revokedAt !== null || holder.member.status !== 'active') throw tokenRefused('ended');
    if (!isActiveAccount(holder)) throw tokenRefused('suspended');
    // The permissions or the setting may have changed since the session was started: a login by email code would be
    // refused now.
    if (holder.session.byEmailCode && emailCodes.exclude(holder.role.permissions)) throw tokenRefused('ended');
    const enrolmentDue = owesEnrolment({
      way: holder.session.way,
      required: secondFactor.isRequired(holder.role.permissions),
      enrolled: holder.member.enrolled,
    });
    return principalOf(holder, { plans, enrolmentDue });
  };

  /** Reads the row of the session, and makes the caller from it unless the row is the same as before. */
  const load = async (sessionId: string): Promise<Cached> => {
    // In this order: what is committed in between is read again.
    const generation = database.generation();
    const at = clock.now();
    const order = ++loads;
    const present = await presentHolder(database, sessionId);
    if (!present) throw tokenRefused('ended');
    const { row, directoryVersion } = present;
    const before = callers.get(sessionId);
    const caller =
      before && isSame(before.row, row)
        ? { ...before, at, order, generation }
        : { at, order, generation, row, ...identityOf(present.holder()) };
    if (order > outdated && order > (before?.order ?? 0)) callers.set(sessionId, caller);
    directory.seen(caller.tenantId, directoryVersion);
    return caller;

    function identityOf(holder: SessionHolder): Pick<Cached, 'principal' | 'tenantId' | 'memberId' | 'endsAt'> {
      const { tenantId, memberId, absoluteExpiresAt: endsAt } = holder.session;
      return { principal: callerIn(holder), tenantId, memberId, endsAt };
    }
  };

  const callerOf = async (
    { sessionId, tenantId, memberId }: TokenHolder,
    isFresh: (cached: Cached) => boolean,
  ): Promise<Principal> => {
    const known = callers.get(sessionId);
    const { principal, endsAt } = known && isFresh(known) ? known : await load(sessionId);
    if (endsAt <= clock.now() || principal.tenant.id !== tenantId || principal.user.id !== memberId)
      throw tokenRefused('ended');
    return principal;
  };
  const isPresent = ({ generation }: Cached): boolean =>
    generation !== undefined && generation === database.generation();

  return {
    authenticate: async (accessToken) => callerOf(await tokens.verifyAccess(accessToken), isPresent),
    again: ({ sessionId, tenant, user }) =>
      callerOf({ sessionId, tenantId: tenant.id, memberId: user.id }, (known) =>
        known.generation === undefined ? clock.now() - known.at < AGAIN_MS : isPresent(known),
      ),
  };
}

/**
 * A request that arrives in less than this time, in milliseconds, is admitted once: a change by another process in this
 * time is one during the request. A change by this process always counts.
 */
const AGAIN_MS = 1_000;

interface Cached {
  /** When the row was read, and the generation of the database before it was. */
  readonly at: number;
  readonly generation: number | undefined;
  /** Loads are numbered in the order in which they begin. */
  readonly order: number;
  readonly row: Row;
  readonly principal: Principal;
  readonly tenantId: string;
  readonly memberId: string;
  /** The absolute end of the session, in epoch milliseconds. */
  readonly endsAt: number;
}

const isSame = (one: Row, other: Row): boolean =>
  Object.keys(other).every((column) => Object.is(one[column], other[column]));

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
