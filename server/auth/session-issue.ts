import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { SessionStore, type SessionRecord } from '../store/sessions.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import { actorOf } from '../access/actor.js';
import type { AuthLoginResult, AuthUserSummary, TokenPair } from './auth.schemas.js';
import { mayIssueSession, NO_MFA, type MfaState, type Way } from '../access/session-policy.js';
import type { Tokens } from './tokens.js';

/** A configured duration: the text that is returned to clients, and milliseconds. */
export interface Lifetime {
  readonly text: string;
  readonly ms: number;
}

/** Starts sessions and issues their tokens, for all ways to sign in. */
export interface SessionIssue {
  /** The lifetime of an unused refresh token, in milliseconds, and of its cookie. */
  readonly refreshLifetimeMs: number;
  /**
   * Inserts the session and its audit row, in the transaction that admitted the member. Calls `mayIssueSession` itself,
   * so that no caller can omit it. Throws UNAUTHENTICATED if the member was disabled or the tenant suspended in the
   * meantime, or if a second factor is missing.
   */
  open(tx: Transaction, entry: Entry): Promise<SessionRecord>;
  /** When a session that is used now expires if it is not used again; at most its absolute end. */
  idleExpiry(session: Pick<SessionRecord, 'absoluteExpiresAt'>, at: number): number;
  /** Signs the tokens. Call it outside the transaction, because it takes time. */
  tokensOf(session: SessionRecord, member: Pick<MemberRecord, 'roleCode' | 'subjectScope'>): Promise<TokenPair>;
  loginResult(entry: {
    readonly session: SessionRecord;
    readonly tenant: Pick<TenantRecord, 'id' | 'slug' | 'name'>;
    readonly member: MemberRecord;
  }): Promise<AuthLoginResult>;
}

/** Who signs in, and how; a sign-in by password requires the state of the second factor. */
export type Entry = {
  readonly member: MemberRecord;
  readonly request: RequestInfo;
  /** The kind of second factor that was used, for the audit. */ readonly factor?: string | undefined;
} & (
  | { readonly way: 'password'; readonly mfa: MfaState }
  | { readonly way: Exclude<Way, 'password'>; readonly mfa?: undefined }
);

export function createSessionIssue({
  clock,
  tokens,
  accessTtl,
  refreshTtl,
  ownOrigin,
}: {
  clock: Clock;
  tokens: Tokens;
  accessTtl: Lifetime;
  refreshTtl: Lifetime;
  ownOrigin: string;
}): SessionIssue {
  const idleExpiry = ({ absoluteExpiresAt }: Pick<SessionRecord, 'absoluteExpiresAt'>, at: number) =>
    Math.min(at + refreshTtl.ms, absoluteExpiresAt);

  const tokensOf: SessionIssue['tokensOf'] = async (session, { roleCode, subjectScope }) => {
    const holder = { tenantId: session.tenantId, memberId: session.memberId, sessionId: session.id };
    const accessToken = await tokens.signAccess({ ...holder, roleCode, subjectScope });
    const refreshToken = await tokens.signRefresh({
      ...holder,
      generation: session.generation,
      issuedAt: session.rotatedAt,
      expiresAt: session.idleExpiresAt,
    });
    return { accessToken, refreshToken, expiresIn: accessTtl.text };
  };

  return {
    refreshLifetimeMs: refreshTtl.ms,
    idleExpiry,
    tokensOf,
    open: async (tx, { member, request, way, mfa = NO_MFA, factor }) => {
      const at = clock.now();
      const tenant = await new TenantStore(tx).byId(member.tenantId);
      if (!tenant || mayIssueSession({ way, tenant, member, mfa }) !== 'yes')
        throw fail('UNAUTHENTICATED', { message: INVALID_CREDENTIALS });
      const absoluteExpiresAt = at + Math.max(ABSOLUTE_MS, refreshTtl.ms);
      const session: SessionRecord = {
        id: newId(),
        tenantId: member.tenantId,
        memberId: member.id,
        generation: 1,
        rotatedAt: at,
        idleExpiresAt: idleExpiry({ absoluteExpiresAt }, at),
        absoluteExpiresAt,
        ownPages: request.origin === ownOrigin,
        way,
        byEmailCode: factor === 'email_code',
        ip: request.ip,
        userAgent: request.userAgent?.slice(0, 400) ?? null,
        createdAt: at,
        revokedAt: null,
      };
      if (!(await new MemberStore(tx, member.tenantId).recordLogin({ id: member.id, at })))
        throw fail('UNAUTHENTICATED', { message: INVALID_CREDENTIALS });
      await new SessionStore(tx).insert(session);
      await new AuditStore(tx).append({
        tenantId: member.tenantId,
        at,
        actor: actorOf(member, request),
        action: 'login_succeeded',
        recordKind: 'session',
        recordId: session.id,
        changes: { way, ...(factor && { factor }), ownPages: session.ownPages },
      });
      return session;
    },
    loginResult: async ({ session, tenant: { id, slug, name }, member }) => ({
      ...(await tokensOf(session, member)),
      tenant: { id, slug, name },
      user: summaryOf(member),
    }),
  };
}

/** The same message for every reason. */
export const INVALID_CREDENTIALS = 'Invalid credentials';

const ABSOLUTE_MS = 90 * 24 * 3_600_000;

export const summaryOf = ({
  id,
  email,
  name,
  nameProfile,
  status,
  roleCode,
  subjectScope,
}: MemberRecord): AuthUserSummary => ({
  id,
  email,
  name,
  nameProfile,
  status,
  roleCode,
  subjectScope: subjectScope && [...subjectScope],
});
