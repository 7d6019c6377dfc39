import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import type { SessionRecord } from '../store/sessions.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Attempt, LoginLimits } from './limits.js';
import type { Passwords } from './passwords.js';
import { INVALID_CREDENTIALS, type SessionIssue } from './session-issue.js';
import type { AuthLoginResult } from './shapes.js';
import { mayIssueSession } from './standing.js';

export interface Credentials {
  readonly tenantSlug: string;
  /** Lower-cased. */
  readonly email: string;
  readonly password: string;
}

/**
 * Sign-in by password. Throws UNAUTHENTICATED alike for an unknown tenant, an unknown email, a disabled member, one without a password
 * and a wrong password, after one and the same work; RATE_LIMITED while too many have failed; OVERLOADED when too many wait.
 */
export type Login = (credentials: Credentials, request: RequestInfo) => Promise<AuthLoginResult>;

export function createLogin({ database, clock, passwords, limits, issue }: { database: Database; clock: Clock; passwords: Passwords; limits: LoginLimits; issue: SessionIssue }): Login {
  const scope = { tenantId: null };

  /** Lets the member in, unless what was read before the hashing no longer holds. */
  const enter = async (tx: Transaction, { found, attempt, request, betterHash }: { found: Found; attempt: Attempt; request: RequestInfo; betterHash: string | undefined }): Promise<Outcome> => {
    const { tenant, member } = (await find(tx, { tenantId: found.tenant.id, memberId: found.member.id })) ?? {};
    const holds = tenant && member && mayIssueSession({ tenant, member }) && member.passwordHash === found.hash;
    if (!holds) return refuse(tx, { tenantId: found.tenant.id, member: found.member, attempt, request });
    const wait = await limits.succeeded(tx, attempt);
    if (wait !== undefined) return { wait };
    if (betterHash !== undefined) await new MemberStore(tx, tenant.id).upgradePasswordHash({ id: member.id, from: found.hash, to: betterHash });
    return { session: await issue.open(tx, { member, request, way: 'password' }), tenant, member };
  };

  const refuse = async (
    tx: Transaction,
    { tenantId, member, attempt, request }: { tenantId: string | undefined; member: MemberRecord | undefined; attempt: Attempt; request: RequestInfo },
  ): Promise<Outcome> => {
    const wait = await limits.failed(tx, attempt);
    if (wait !== undefined) return { wait };
    await new AuditStore(tx).append({
      tenantId: tenantId ?? null,
      at: clock.now(),
      actor: { kind: 'user', id: member?.id ?? null, name: member?.name ?? 'unknown', ip: request.ip, requestId: request.id },
      action: 'login_failed',
      recordKind: 'member',
      recordId: member?.id ?? null,
    });
    return { refused: true };
  };

  return async ({ tenantSlug, email, password }, request) => {
    const attempt: Attempt = { account: { tenantSlug, email }, ip: request.ip };
    await limits.refuseLocked(attempt);
    const { tenant, member } = await database.read(scope, async (tx) => {
      const named = await new TenantStore(tx).bySlug(tenantSlug);
      return { tenant: named, member: named && (await new MemberStore(tx, named.id).byEmail(email)) };
    });
    const hash = tenant && member && mayIssueSession({ tenant, member }) ? member.passwordHash : null;
    const matches = await passwords.verify({ password, hash });
    const found = matches && tenant && member && hash !== null ? { tenant, member, hash } : undefined;
    const betterHash = found && passwords.isWeaker(found.hash) ? await passwords.hash(password) : undefined;
    const outcome = await database.write(scope, (tx) =>
      found ? enter(tx, { found, attempt, request, betterHash }) : refuse(tx, { tenantId: tenant?.id, member, attempt, request }),
    );
    if ('wait' in outcome) throw fail('RATE_LIMITED', { retryAfterSeconds: outcome.wait });
    if (!('session' in outcome)) throw fail('UNAUTHENTICATED', { message: INVALID_CREDENTIALS });
    return issue.loginResult(outcome);
  };
}

interface Found {
  readonly tenant: TenantRecord;
  readonly member: MemberRecord;
  /** The hash that the password matched. */
  readonly hash: string;
}

/** Answered, not thrown: counts and audit rows of a failure must be committed. */
type Outcome = { readonly session: SessionRecord; readonly tenant: TenantRecord; readonly member: MemberRecord } | { readonly wait: number } | { readonly refused: true };

async function find(tx: Transaction, { tenantId, memberId }: { tenantId: string; memberId: string }): Promise<{ tenant: TenantRecord; member: MemberRecord } | undefined> {
  const tenant = await new TenantStore(tx).byId(tenantId);
  const member = await new MemberStore(tx, tenantId).byId(memberId);
  return tenant && member && { tenant, member };
}
