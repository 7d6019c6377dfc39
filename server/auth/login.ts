import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { AuditStore } from '../store/audit.js';
import { MemberStore } from '../store/members.js';
import type { SessionRecord } from '../store/sessions.js';
import type { Changes } from '../access/changes.js';
import type { EmailCodes } from './email-code.js';
import type { Enrolment } from './enrolment.js';
import type { LoginLimits } from './limits.js';
import type { Account, Checked, Credentials, PasswordCheck } from './password-check.js';
import type { SecondFactor } from './second-factor.js';
import { actorOf, anonymousActor } from '../access/actor.js';
import { INVALID_CREDENTIALS, type SessionIssue } from './session-issue.js';
import type { AuthLoginResult, MfaLoginRequired } from './auth.schemas.js';
import { mayIssueSession, type MfaState } from '../access/session-policy.js';

/**
 * The second factor of a sign-in. If both codes are sent, only the authenticator's is checked, so that one attempt is
 * one guess.
 */
export interface Shown {
  /** A code of the authenticator, or a recovery code. */
  readonly mfaCode?: string | null;
  readonly emailCode?: string | null;
  /** The secret offered at a previous login; `mfaCode` must be generated from it. */
  readonly mfaSetupSecret?: string | null;
}

/**
 * Sign-in by password. Throws UNAUTHENTICATED, after the same amount of work, for an unknown tenant, an unknown email,
 * a disabled member, a member without a password and a wrong password; TENANT_SUSPENDED for the right password of an
 * active member; MFA_CODE_INVALID for a wrong second factor; RATE_LIMITED after too many failures of either; OVERLOADED
 * if too many requests are waiting. If the password is right but not sufficient, returns what else is needed.
 */
export type Login = (given: Credentials & Shown, request: RequestInfo) => Promise<AuthLoginResult | MfaLoginRequired>;

export function createLogin({
  database,
  clock,
  passwordCheck,
  limits,
  issue,
  secondFactor,
  enrolment,
  emailCodes,
  changes,
}: {
  database: Database;
  clock: Clock;
  passwordCheck: PasswordCheck;
  limits: LoginLimits;
  issue: SessionIssue;
  secondFactor: SecondFactor;
  enrolment: Enrolment;
  emailCodes: EmailCodes;
  changes: Changes;
}): Login {
  const refuse = async (
    tx: Transaction,
    { checked, request, reason }: { checked: Checked; request: RequestInfo; reason: 'password' | 'second_factor' },
  ): Promise<Outcome> => {
    const wait = await passwordCheck.refuse(tx, checked, { request, action: 'login_failed', changes: { reason } });
    return wait === undefined ? { refused: reason } : { wait };
  };

  /** Verifies and invalidates the second factor. It is ignored for a member who needs none. */
  const proofOf = async (
    tx: Transaction,
    {
      account: { member },
      state,
      shown,
      request,
    }: { account: Account; state: Pick<MfaState, 'enrolled' | 'required'>; shown: Shown; request: RequestInfo },
  ): Promise<Proof> => {
    const { mfaCode, emailCode, mfaSetupSecret } = shown;
    if (state.enrolled) {
      // The secret was not offered by us, or a concurrent enrolment was faster.
      if (mfaSetupSecret) return 'wrong';
      if (mfaCode) return proof(await secondFactor.take(tx, member, mfaCode));
      return emailCode ? proof((await emailCodes.take(tx, member, emailCode)) ? 'email_code' : undefined) : 'nothing';
    }
    if (!state.required || !mfaSetupSecret) return 'nothing';
    const confirmed = await enrolment.confirm(tx, member, {
      secret: mfaSetupSecret,
      code: mfaCode ?? '',
      actor: actorOf(member, request),
      sessionId: null,
    });
    return typeof confirmed === 'string' ? 'wrong' : { factor: 'enrolment', recoveryCodes: confirmed.recoveryCodes };
  };

  /** Admits the member or returns what else is needed, if the facts read before the hashing still hold. */
  const enter = async (
    tx: Transaction,
    { checked, shown, request }: { checked: Checked; shown: Shown; request: RequestInfo },
  ): Promise<Outcome> => {
    const account = await passwordCheck.stillHolds(tx, checked);
    if (!account) return refuse(tx, { checked, request, reason: 'password' });
    // Before any code is used: during a lock even a right code is refused.
    const locked = await limits.locked(tx, checked.attempt);
    if (locked !== undefined) return { wait: locked };
    if (account === 'tenant_suspended') return refuseSuspended(tx, { checked, request });
    const state = await secondFactor.stateOf(tx, account.member);
    const shownProof = await proofOf(tx, { account, state, shown, request });
    if (shownProof === 'wrong') return refuse(tx, { checked, request, reason: 'second_factor' });
    const passed = typeof shownProof === 'object' ? shownProof : undefined;
    const mfa: MfaState = { ...state, passed: passed !== undefined };
    const verdict = mayIssueSession({ way: 'password', ...account, mfa });
    if (verdict === 'factor_needed' || verdict === 'enrolment_needed')
      return { needed: await ask(tx, { account, verdict, request }) };

    const wait = await limits.succeeded(tx, checked.attempt);
    if (wait !== undefined) return { wait };
    await upgradeHash(tx, account, checked);
    return {
      ...account,
      session: await issue.open(tx, { member: account.member, request, way: 'password', mfa, factor: passed?.factor }),
      recoveryCodes: passed?.recoveryCodes,
    };
  };

  /** Counts neither as a failure nor as a success, like `ask`. The reason is reported without a second factor. */
  const refuseSuspended = async (
    tx: Transaction,
    { checked: { tenant, member }, request }: { checked: Checked; request: RequestInfo },
  ): Promise<Outcome> => {
    await new AuditStore(tx).append({
      tenantId: tenant?.id ?? null,
      at: clock.now(),
      actor: member ? actorOf(member, request) : anonymousActor(request),
      action: 'login_failed',
      recordKind: 'member',
      recordId: member?.id ?? null,
      changes: { reason: 'tenant_suspended' },
    });
    return { refused: 'tenant_suspended' };
  };

  /**
   * The password was right, so this is not a failure. It is not a success either: clearing the failures would allow
   * unlimited guesses of the code.
   */
  const ask = async (
    tx: Transaction,
    {
      account: { tenant, member },
      verdict,
      request,
    }: { account: Account; verdict: 'factor_needed' | 'enrolment_needed'; request: RequestInfo },
  ): Promise<MfaLoginRequired> => {
    const enrolmentRequired = verdict === 'enrolment_needed';
    await new AuditStore(tx).append({
      tenantId: tenant.id,
      at: clock.now(),
      actor: actorOf(member, request),
      action: 'login_mfa_required',
      recordKind: 'member',
      recordId: member.id,
      changes: { enrolmentRequired },
    });
    if (!enrolmentRequired)
      return {
        mfaRequired: true,
        enrollmentRequired: false,
        message: FACTOR_NEEDED,
        emailFallbackAvailable: await emailCodes.availableTo(tx, member),
      };
    return {
      mfaRequired: true,
      enrollmentRequired: true,
      message: ENROLMENT_NEEDED,
      ...(await enrolment.offer(tx, member)),
      emailFallbackAvailable: false,
    };
  };

  return async ({ mfaCode = null, emailCode = null, mfaSetupSecret = null, ...credentials }, request) => {
    const checked = await passwordCheck.begin(credentials, request);
    const shown: Shown = { mfaCode, emailCode, mfaSetupSecret };
    const outcome = await database.write({ tenantId: null }, (tx) =>
      checked.matched ? enter(tx, { checked, shown, request }) : refuse(tx, { checked, request, reason: 'password' }),
    );
    if ('wait' in outcome) throw fail('RATE_LIMITED', { retryAfterSeconds: outcome.wait });
    if ('refused' in outcome) throw REFUSALS[outcome.refused]();
    if ('needed' in outcome) return outcome.needed;
    const { recoveryCodes, ...entry } = outcome;
    // Enrolling ends all other sessions of the member.
    if (recoveryCodes) changes.notify({ kind: 'member', tenantId: entry.tenant.id, memberId: entry.member.id });
    return { ...(await issue.loginResult(entry)), ...(recoveryCodes && { recoveryCodes }) };
  };
}

const FACTOR_NEEDED =
  'Repeat the login with a code of your authenticator, or a recovery code, as mfaCode; or with emailCode, if the email fallback is available.';
const ENROLMENT_NEEDED =
  'Add the secret to an authenticator app, and repeat the login with the secret as mfaSetupSecret and a code of the app as mfaCode, within ten minutes.';

type Proof = 'nothing' | 'wrong' | { readonly factor: string; readonly recoveryCodes?: string[] };

const proof = (factor: string | undefined): Proof => (factor === undefined ? 'wrong' : { factor });

const REFUSALS = {
  password: () => fail('UNAUTHENTICATED', { message: INVALID_CREDENTIALS }),
  second_factor: () => fail('MFA_CODE_INVALID', {}),
  tenant_suspended: () => fail('TENANT_SUSPENDED', {}),
} as const;

/** Returned instead of thrown, because failure counts and audit rows must be committed. */
type Outcome =
  | (Account & { readonly session: SessionRecord; readonly recoveryCodes: string[] | undefined })
  | { readonly wait: number }
  | { readonly refused: keyof typeof REFUSALS }
  | { readonly needed: MfaLoginRequired };

async function upgradeHash(tx: Transaction, { tenant, member }: Account, { matched }: Checked): Promise<void> {
  if (matched?.betterHash === undefined) return;
  await new MemberStore(tx, tenant.id).upgradePasswordHash({
    id: member.id,
    from: matched.hash,
    to: matched.betterHash,
  });
}
