import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail, isFailure, type Failure } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore, type MemberRecord } from '../store/members.js';
import { PasswordResetStore } from '../store/password-resets.js';
import { actorOf } from '../access/actor.js';
import type { Changes } from '../access/changes.js';
import type { Principal } from '../access/principal.js';
import type { PasswordPolicy } from '../credentials/password-policy.js';
import { normalised, type Passwords } from '../credentials/passwords.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';
import type { LoginLimits } from './limits.js';
import type { Checked, PasswordCheck } from './password-check.js';

/**
 * Changes the caller's own password, within ten minutes of the sign-in (RECENT_LOGIN_REQUIRED): their other sessions
 * end, a pending reset is invalidated, and a notice is sent by mail. Throws PASSWORD_NOT_SET for a member without a
 * password; CURRENT_PASSWORD_WRONG, which counts as a failed login of the account (RATE_LIMITED); PASSWORD_TOO_WEAK;
 * OVERLOADED if too many requests are waiting.
 */
export type ChangePassword = (
  principal: Principal,
  given: { readonly currentPassword: string; readonly newPassword: string },
  request: RequestInfo,
) => Promise<void>;

export function createChangePassword({
  database,
  clock,
  passwords,
  passwordCheck,
  policy,
  limits,
  signInMethods,
  changes,
}: {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  passwordCheck: PasswordCheck;
  policy: PasswordPolicy;
  limits: LoginLimits;
  signInMethods: SignInMethods;
  changes: Changes;
}): ChangePassword {
  const scope = { tenantId: null };

  /** A session that is not recent cannot be used to guess the password. */
  const begin = ({ sessionId, tenant, user }: Principal): Promise<MemberRecord> =>
    database.read(scope, async (tx) => {
      const member = await new MemberStore(tx, tenant.id).byId(user.id);
      if (!member) throw fail('UNAUTHENTICATED', {});
      if (member.passwordHash === null) throw fail('PASSWORD_NOT_SET', {});
      await signInMethods.requireRecentLogin(tx, { sessionId });
      return member;
    });

  /**
   * The hash of the new password, or the reason why it is refused. The reason is returned, because it must not be
   * revealed if the account was locked in the meantime: only a right current password gets this far.
   */
  const hashOrRefusal = async (
    { currentPassword, newPassword }: Parameters<ChangePassword>[1],
    { email, tenantSlug }: { email: string; tenantSlug: string },
  ): Promise<string | Failure> => {
    if (normalised(newPassword) === normalised(currentPassword))
      return fail('PASSWORD_TOO_WEAK', { reason: 'It is the current password.' });
    try {
      await policy({ password: newPassword, email, tenantSlug });
    } catch (error) {
      if (isFailure(error, 'PASSWORD_TOO_WEAK')) return error;
      throw error;
    }
    return passwords.hash(newPassword);
  };

  const refuse = async (tx: Transaction, checked: Checked, request: RequestInfo): Promise<Outcome> => {
    const wait = await passwordCheck.refuse(tx, checked, { request, action: 'password_change_refused' });
    return wait === undefined ? { refused: fail('CURRENT_PASSWORD_WRONG', {}) } : { wait };
  };

  const change = async (
    tx: Transaction,
    { principal, checked, hashed }: { principal: Principal; checked: Checked; hashed: string | Failure },
    request: RequestInfo,
  ): Promise<Outcome> => {
    const account = await passwordCheck.stillHolds(tx, checked);
    if (!account) return refuse(tx, checked, request);
    if (account === 'tenant_suspended') throw fail('UNAUTHENTICATED', {});
    // Failures are not cleared: they also limit guesses of the second factor.
    const wait = await limits.locked(tx, checked.attempt);
    if (wait !== undefined) return { wait };
    if (typeof hashed !== 'string') return { refused: hashed };
    const { id, tenantId } = account.member;
    const sessionId = await signInMethods.requireRecentLogin(tx, principal);
    const at = clock.now();
    if (!(await new MemberStore(tx, tenantId).setPasswordHash({ id, passwordHash: hashed, at })))
      throw fail('UNAUTHENTICATED', {});
    await new PasswordResetStore(tx).drop({ tenantId, memberId: id });
    const changed = await signInMethods.changed(tx, { tenantId, memberId: id, change: 'password_changed', sessionId });
    await new AuditStore(tx).append({
      tenantId,
      at,
      actor: actorOf(account.member, request),
      action: 'password_changed',
      recordKind: 'member',
      recordId: id,
      changes: changed,
    });
    return { done: true };
  };

  return async (principal, { currentPassword, newPassword }, request) => {
    const given = {
      currentPassword: normalised(currentPassword, 'currentPassword'),
      newPassword: normalised(newPassword, 'newPassword'),
    };
    const { email } = await begin(principal);
    const { id: tenantId, slug: tenantSlug } = principal.tenant;
    const checked = await passwordCheck.begin({ tenantSlug, email, password: given.currentPassword }, request);
    const hashed = checked.matched && (await hashOrRefusal(given, { email, tenantSlug }));
    // Returned instead of thrown, because failure counts and audit rows must be committed.
    const outcome = await database.write(scope, (tx) =>
      hashed === undefined ? refuse(tx, checked, request) : change(tx, { principal, checked, hashed }, request),
    );
    if ('wait' in outcome) throw fail('RATE_LIMITED', { retryAfterSeconds: outcome.wait });
    if ('refused' in outcome) throw outcome.refused;
    changes.notify({ kind: 'member', tenantId, memberId: principal.user.id });
  };
}

type Outcome = { readonly done: true } | { readonly wait: number } | { readonly refused: Failure };
