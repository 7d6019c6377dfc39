import { addressIn } from '../../data-plane-agent/base/addresses.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type ListedMember } from '../store/members.js';
import { MfaStore } from '../store/mfa.js';
import { PasskeyStore } from '../store/passkeys.js';
import { PasswordResetStore } from '../store/password-resets.js';
import { SessionStore } from '../store/sessions.js';
import { TenantStore } from '../store/tenants.js';
import type { LoginLimits } from './limits.js';
import type { PasswordPolicy } from '../credentials/password-policy.js';
import type { Passwords } from '../credentials/passwords.js';
import { holdEmailCode } from '../credentials/sign-in-methods.js';

/** A member, by organisation and email address. */
export interface Account {
  readonly tenantSlug: string;
  readonly email: string;
}

/**
 * Commands of an operator to restore or block a member's access. Each is audited in the same transaction. Throws
 * NOT_FOUND for an unknown organisation or member. Running servers apply the changes to the next request.
 */
export interface MemberAccess {
  list(tenantSlug: string): Promise<ListedMember[]>;
  /**
   * Sets a new password, ends the member's sessions, removes a lock and invalidates a pending reset. Throws
   * PASSWORD_TOO_WEAK.
   */
  resetPassword(
    account: Account & { readonly password: string },
    actor: Actor,
  ): Promise<{ readonly sessionsRevoked: number }>;
  /**
   * Deletes authenticator, recovery codes and passkeys, and ends the sessions: the next sign-in enrols again if policy
   * requires it.
   */
  resetMfa(
    account: Account,
    actor: Actor,
  ): Promise<{ readonly authenticator: boolean; readonly passkeys: number; readonly sessionsRevoked: number }>;
  /** Clears failed sign-ins. */
  unlock(account: Account, actor: Actor): Promise<{ readonly wasLocked: boolean }>;
  revokeSessions(account: Account, actor: Actor): Promise<{ readonly sessionsRevoked: number }>;
}

export function createMemberAccess({
  database,
  clock,
  passwords,
  policy,
  limits,
}: {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  policy: PasswordPolicy;
  limits: LoginLimits;
}): MemberAccess {
  const scope = { tenantId: null };

  /** Finds the member and audits the result of `work`. */
  const change = <T extends Readonly<Record<string, unknown>>>(
    { tenantSlug, email }: Account,
    { actor, action }: { actor: Actor; action: string },
    work: (tx: Transaction, member: ListedMember, at: number) => Promise<T>,
  ): Promise<T> =>
    database.write(scope, async (tx) => {
      const tenant = await new TenantStore(tx).bySlug(tenantSlug);
      const members = tenant && new MemberStore(tx, tenant.id);
      const address = addressIn(email);
      const named = address === undefined ? undefined : await members?.byEmail(address);
      // Locked first, to serialise with a concurrent registration of a passkey.
      const member = named && (await members?.lock(named.id)) && (await members?.listed(named.id));
      if (!member) throw fail('NOT_FOUND', {});
      const at = clock.now();
      const done = await work(tx, member, at);
      await new AuditStore(tx).append({
        tenantId: member.tenantId,
        at,
        actor,
        action,
        recordKind: 'member',
        recordId: member.id,
        changes: done,
      });
      return done;
    });
  const endSessions = (tx: Transaction, { tenantId, id }: ListedMember, at: number) =>
    new SessionStore(tx).revokeAllOf({ tenantId, memberId: id, at });

  return {
    list: (tenantSlug) =>
      database.read(scope, async (tx) => {
        const tenant = await new TenantStore(tx).bySlug(tenantSlug);
        if (!tenant) throw fail('NOT_FOUND', {});
        return new MemberStore(tx, tenant.id).list();
      }),

    resetPassword: async ({ password, ...account }, actor) => {
      await policy({ password, email: account.email, tenantSlug: account.tenantSlug });
      const passwordHash = await passwords.hash(password);
      return change(account, { actor, action: 'member_password_reset' }, async (tx, member, at) => {
        const { tenantId, id, email } = member;
        if (!(await new MemberStore(tx, tenantId).setPasswordHash({ id, passwordHash, at })))
          throw fail('NOT_FOUND', {});
        await new PasswordResetStore(tx).drop({ tenantId, memberId: id });
        await holdEmailCode(tx, { tenantId, memberId: id, at });
        await limits.unlock(tx, { tenantSlug: account.tenantSlug, email });
        return { sessionsRevoked: await endSessions(tx, member, at) };
      });
    },

    resetMfa: (account, actor) =>
      change(account, { actor, action: 'member_mfa_reset' }, async (tx, member, at) => {
        const { tenantId, id: memberId } = member;
        const authenticator = await new MfaStore(tx, tenantId).remove(memberId);
        const store = new PasskeyStore(tx, tenantId);
        const passkeys = await store.all({ memberId });
        for (const { id } of passkeys) await store.delete({ id, memberId });
        return { authenticator, passkeys: passkeys.length, sessionsRevoked: await endSessions(tx, member, at) };
      }),

    unlock: (account, actor) =>
      change(account, { actor, action: 'member_unlocked' }, async (tx, { email }) => ({
        wasLocked: await limits.unlock(tx, { tenantSlug: account.tenantSlug, email }),
      })),

    revokeSessions: (account, actor) =>
      change(account, { actor, action: 'sessions_revoked' }, async (tx, member, at) => ({
        sessionsRevoked: await endSessions(tx, member, at),
      })),
  };
}
