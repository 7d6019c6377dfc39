import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore } from '../store/members.js';
import { MfaStore } from '../store/mfa.js';
import type { Changes } from '../access/changes.js';
import type { Confirmed, Enrolment, Offer } from './enrolment.js';
import type { Attempt, LoginLimits } from './limits.js';
import type { Principal } from '../access/principal.js';
import type { SecondFactor } from './second-factor.js';
import { actorOf } from '../access/actor.js';
import type { MfaStatus } from './auth.schemas.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';

/**
 * Management of a member's own second factor, within ten minutes of the sign-in (RECENT_LOGIN_REQUIRED). A wrong code
 * is MFA_CODE_INVALID and counts as a failed login of the account (RATE_LIMITED). Members are notified of a change by
 * mail, and their other sessions end.
 */
export interface Mfa {
  status(principal: Principal): Promise<MfaStatus>;
  /** Throws MFA_ALREADY_ENROLLED. */
  start(principal: Principal): Promise<Offer>;
  /**
   * Throws MFA_ALREADY_ENROLLED, and MFA_SECRET_UNKNOWN for a secret that was not offered to the caller within the last
   * ten minutes.
   */
  confirm(
    principal: Principal,
    given: { readonly secret: string; readonly code: string },
    request: RequestInfo,
  ): Promise<MfaStatus & Confirmed>;
  /** Requires a code of the authenticator or a recovery code. Throws MFA_REQUIRED_BY_POLICY, MFA_NOT_ENROLLED. */
  disable(principal: Principal, given: { readonly code: string }, request: RequestInfo): Promise<MfaStatus>;
}

export function createMfa({
  database,
  clock,
  limits,
  secondFactor,
  enrolment,
  signInMethods,
  changes,
}: {
  database: Database;
  clock: Clock;
  limits: LoginLimits;
  secondFactor: SecondFactor;
  enrolment: Enrolment;
  signInMethods: SignInMethods;
  changes: Changes;
}): Mfa {
  const scope = { tenantId: null };

  const statusIn = async (tx: Transaction, { tenant, user, permissions }: Principal): Promise<MfaStatus> => {
    const store = new MfaStore(tx, tenant.id);
    return {
      enrolled: (await store.totp(user.id)) !== undefined,
      required: secondFactor.isRequired(permissions),
      recoveryCodesLeft: await store.recoveryCodesLeft(user.id),
    };
  };

  /** Runs `work` unless the account is locked. A wrong code is counted, which is committed. */
  const withCode = async <T>(
    principal: Principal,
    request: RequestInfo,
    work: (tx: Transaction) => Promise<T | 'code_wrong'>,
  ): Promise<T> => {
    const attempt: Attempt = {
      account: { tenantSlug: principal.tenant.slug, email: principal.user.email },
      ip: request.ip,
    };
    const outcome = await database.write(scope, async (tx) => {
      const locked = await limits.locked(tx, attempt);
      if (locked !== undefined) return { wait: locked };
      // Locked first, to serialise with a concurrent sign-in.
      await new MemberStore(tx, principal.tenant.id).lock(principal.user.id);
      await signInMethods.requireRecentLogin(tx, principal);
      const result = await work(tx);
      if (result !== 'code_wrong') return { result };
      const wait = await limits.failed(tx, attempt);
      if (wait !== undefined) return { wait };
      await audit(tx, principal, { request, action: 'mfa_code_refused' });
      return 'code_wrong';
    });
    if (outcome === 'code_wrong') throw fail('MFA_CODE_INVALID', {});
    if ('wait' in outcome) throw fail('RATE_LIMITED', { retryAfterSeconds: outcome.wait });
    changes.notify({ kind: 'member', tenantId: principal.tenant.id, memberId: principal.user.id });
    return outcome.result;
  };

  const audit = (
    tx: Transaction,
    { tenant, user }: Principal,
    {
      request,
      action,
      changed = {},
    }: { request: RequestInfo; action: string; changed?: Readonly<Record<string, unknown>> },
  ): Promise<void> =>
    new AuditStore(tx).append({
      tenantId: tenant.id,
      at: clock.now(),
      actor: actorOf(user, request),
      action,
      recordKind: 'member',
      recordId: user.id,
      changes: changed,
    });

  const memberOf = ({ tenant, user }: Principal) => ({
    id: user.id,
    tenantId: tenant.id,
    email: user.email,
    roleCode: user.roleCode,
  });

  return {
    status: (principal) => database.read(scope, (tx) => statusIn(tx, principal)),

    start: (principal) =>
      database.write(scope, async (tx) => {
        await signInMethods.requireRecentLogin(tx, principal);
        if ((await statusIn(tx, principal)).enrolled) throw fail('MFA_ALREADY_ENROLLED', {});
        return enrolment.offer(tx, memberOf(principal));
      }),

    confirm: (principal, given, request) =>
      withCode(principal, request, async (tx) => {
        const confirmed = await enrolment.confirm(tx, memberOf(principal), {
          ...given,
          actor: actorOf(principal.user, request),
          sessionId: principal.sessionId,
        });
        if (confirmed === 'enrolled_already') throw fail('MFA_ALREADY_ENROLLED', {});
        if (confirmed === 'unknown') throw fail('MFA_SECRET_UNKNOWN', {});
        return confirmed === 'code_wrong' ? confirmed : { ...(await statusIn(tx, principal)), ...confirmed };
      }),

    disable: async (principal, { code }, request) => {
      if (secondFactor.isRequired(principal.permissions)) throw fail('MFA_REQUIRED_BY_POLICY', {});
      return withCode(principal, request, async (tx) => {
        if (!(await statusIn(tx, principal)).enrolled) throw fail('MFA_NOT_ENROLLED', {});
        if ((await secondFactor.take(tx, memberOf(principal), code)) === undefined) return 'code_wrong';
        await new MfaStore(tx, principal.tenant.id).remove(principal.user.id);
        const changed = await signInMethods.changed(tx, {
          tenantId: principal.tenant.id,
          memberId: principal.user.id,
          change: 'authenticator_removed',
          sessionId: principal.sessionId,
        });
        await audit(tx, principal, { request, action: 'mfa_disabled', changed });
        return statusIn(tx, principal);
      });
    },
  };
}
