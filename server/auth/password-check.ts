import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { TenantStore, type TenantRecord } from '../store/tenants.js';
import type { Attempt, LoginLimits } from './limits.js';
import type { Passwords } from '../credentials/passwords.js';
import { isActiveAccount } from '../access/session-policy.js';

export interface Credentials {
  readonly tenantSlug: string;
  /** Lower-cased. */
  readonly email: string;
  readonly password: string;
}

/**
 * The first step of every request with a password. Throws RATE_LIMITED after too many failures, OVERLOADED if too many
 * requests are waiting. Every mismatch, for whatever reason, costs exactly one verification.
 */
export interface PasswordCheck {
  begin(credentials: Credentials, request: RequestInfo): Promise<Checked>;
  /**
   * Returns the account as of this transaction, if the facts read before the hashing still hold; `tenant_suspended` if
   * only its tenant is not active. Without a right password, returns undefined in either case.
   */
  stillHolds(tx: Transaction, checked: Checked): Promise<Account | 'tenant_suspended' | undefined>;
  /**
   * Counts the failure and audits it as `action`. Returns the seconds to wait if the result of the attempt must not be
   * revealed.
   */
  refuse(
    tx: Transaction,
    checked: Checked,
    refusal: {
      readonly request: RequestInfo;
      readonly action: string;
      readonly changes?: Readonly<Record<string, unknown>>;
    },
  ): Promise<number | undefined>;
}

export interface Account {
  readonly tenant: TenantRecord;
  readonly member: MemberRecord;
}
export interface Checked {
  readonly attempt: Attempt;
  /** The named tenant and member, whether or not the password is right. */
  readonly tenant: TenantRecord | undefined;
  readonly member: MemberRecord | undefined;
  /**
   * For a right password: the hash that it matched, and a stronger hash if that one no longer meets the present
   * parameters.
   */
  readonly matched: { readonly hash: string; readonly betterHash: string | undefined } | undefined;
}

export function createPasswordCheck({
  database,
  clock,
  passwords,
  limits,
}: {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  limits: LoginLimits;
}): PasswordCheck {
  return {
    begin: async ({ tenantSlug, email, password }, request) => {
      const attempt: Attempt = { account: { tenantSlug, email }, ip: request.ip };
      await limits.refuseLocked(attempt);
      const { tenant, member } = await database.read({ tenantId: null }, async (tx) => {
        const named = await new TenantStore(tx).bySlug(tenantSlug);
        return { tenant: named, member: named && (await new MemberStore(tx, named.id).byEmail(email)) };
      });
      const hash = member?.status === 'active' ? member.passwordHash : null;
      const matches = await passwords.verify({ password, hash });
      if (!matches || hash === null) return { attempt, tenant, member, matched: undefined };
      return {
        attempt,
        tenant,
        member,
        matched: { hash, betterHash: passwords.isWeaker(hash) ? await passwords.hash(password) : undefined },
      };
    },

    stillHolds: async (tx, { tenant: named, member: found, matched }) => {
      if (!named || !found || !matched) return undefined;
      const tenant = await new TenantStore(tx).byId(named.id);
      // Locked: a concurrent password reset must end the session that follows.
      const member = await new MemberStore(tx, named.id).lock(found.id);
      if (!tenant || member?.status !== 'active' || member.passwordHash !== matched.hash) return undefined;
      return isActiveAccount({ tenant, member }) ? { tenant, member } : 'tenant_suspended';
    },

    refuse: async (tx, { attempt, tenant, member }, { request, action, changes = {} }) => {
      const wait = await limits.failed(tx, attempt);
      if (wait !== undefined) return wait;
      const actor: Actor = {
        kind: 'user',
        id: member?.id ?? null,
        name: member?.name ?? 'unknown',
        ip: request.ip,
        requestId: request.id,
      };
      // Attempts during a lock are not recorded, since an attacker could fill the disk with them; the attempt that
      // caused the lock records its duration.
      const lockedForSeconds = await limits.locked(tx, attempt);
      await new AuditStore(tx).append({
        tenantId: tenant?.id ?? null,
        at: clock.now(),
        actor,
        action,
        recordKind: 'member',
        recordId: member?.id ?? null,
        changes: { ...changes, ...(lockedForSeconds === undefined ? {} : { lockedForSeconds }) },
      });
      return undefined;
    },
  };
}
