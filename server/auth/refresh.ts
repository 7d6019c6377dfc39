import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { RoleStore } from '../store/roles.js';
import { SessionStore, type SessionRecord } from '../store/sessions.js';
import { TenantStore } from '../store/tenants.js';
import type { Changes } from '../access/changes.js';
import { tokenRefused } from '../access/token-faults.js';
import type { EmailCodes } from './email-code.js';
import { actorOf } from '../access/actor.js';
import type { SessionIssue } from './session-issue.js';
import type { TokenPair } from './auth.schemas.js';
import { isActiveAccount } from '../access/session-policy.js';
import type { TokenHolder, Tokens } from './tokens.js';

/** The cookie with the refresh token, for browsers. */
export const REFRESH_COOKIE = 'service_tenant_refresh';

/**
 * Exchanges a refresh token, from the body or else from the cookie, for new tokens. Throws UNAUTHENTICATED for a token
 * that is invalid, expired or of an ended session, and for one that was used before, which ends the session;
 * ORIGIN_NOT_ALLOWED for a cookie sent by a page of another site.
 */
export type Refresh = (bodyToken: string | null | undefined, request: RequestInfo) => Promise<TokenPair>;

export function createRefresh({
  database,
  clock,
  tokens,
  issue,
  changes,
  emailCodes,
  allowedOrigins,
}: {
  database: Database;
  clock: Clock;
  tokens: Tokens;
  issue: SessionIssue;
  changes: Changes;
  emailCodes: Pick<EmailCodes, 'exclude'>;
  /** The service's own origin and those of `CORS_ORIGINS`. */
  allowedOrigins: readonly string[];
}): Refresh {
  const rotate = async (
    tx: Transaction,
    {
      holder,
      byCookie,
      request,
    }: { holder: TokenHolder & { generation: number }; byCookie: boolean; request: RequestInfo },
  ): Promise<Outcome> => {
    const sessions = new SessionStore(tx);
    const session = await sessions.byId(holder.sessionId);
    const member = await new MemberStore(tx, holder.tenantId).byId(holder.memberId);
    const tenant = await new TenantStore(tx).byId(holder.tenantId);
    const at = clock.now();
    const live =
      session &&
      session.tenantId === holder.tenantId &&
      session.memberId === holder.memberId &&
      session.revokedAt === null &&
      session.idleExpiresAt > at;
    if (!live || !tenant || member?.status !== 'active') return { refused: 'ended' };
    if (!isActiveAccount({ tenant, member })) return { refused: 'suspended' };
    const role = session.byEmailCode ? await new RoleStore(tx, holder.tenantId).byCode(member.roleCode) : undefined;
    if (role && emailCodes.exclude(role.permissions)) return { refused: 'ended' };

    const idleExpiresAt = issue.idleExpiry(session, at);
    if (
      holder.generation === session.generation &&
      (await sessions.rotate({ id: session.id, from: session.generation, at, idleExpiresAt }))
    ) {
      return { session: { ...session, generation: session.generation + 1, rotatedAt: at, idleExpiresAt }, member };
    }
    // Either a concurrent request used the same token, or the token is old: the present row decides.
    const now = (await sessions.byId(session.id)) ?? session;
    if (now.revokedAt !== null) return { refused: 'ended' };
    if (byCookie && holder.generation === now.generation - 1 && at - now.rotatedAt <= GRACE_MS)
      return { session: now, member };
    await sessions.revoke({ id: session.id, at });
    await new AuditStore(tx).append({
      tenantId: tenant.id,
      at,
      actor: actorOf(member, request),
      action: 'refresh_token_reuse',
      recordKind: 'session',
      recordId: session.id,
      changes: { generation: holder.generation, present: now.generation, byCookie },
    });
    return { refused: 'ended', reused: true };
  };

  return async (bodyToken, request) => {
    const byCookie = bodyToken === null || bodyToken === undefined;
    const token = bodyToken ?? request.cookies[REFRESH_COOKIE];
    if (token === undefined || token === '') throw tokenRefused('missing', 'refresh');
    if (byCookie && comesFromElsewhere(request, allowedOrigins)) throw fail('ORIGIN_NOT_ALLOWED', {});
    const holder = await tokens.verifyRefresh(token);
    // Returned instead of thrown, because ending the session of a stolen token must be committed.
    const outcome = await database.write({ tenantId: null }, (tx) => rotate(tx, { holder, byCookie, request }));
    if ('reused' in outcome && outcome.reused) changes.notify({ kind: 'session', sessionId: holder.sessionId });
    if (!('session' in outcome)) throw tokenRefused(outcome.refused, 'refresh');
    return issue.tokensOf(outcome.session, outcome.member);
  };
}

/** How long the previous token is accepted by cookie, for concurrent tabs and lost answers. */
const GRACE_MS = 10_000;

type Outcome =
  | { readonly session: SessionRecord; readonly member: MemberRecord }
  | { readonly refused: 'ended' | 'suspended'; readonly reused?: true };

/** Browsers set these headers. A client that sends neither is not a browser, so no page can make it send the cookie. */
const comesFromElsewhere = ({ origin, secFetchSite }: RequestInfo, allowed: readonly string[]): boolean =>
  secFetchSite === 'cross-site' || (origin !== undefined && !allowed.includes(origin));
