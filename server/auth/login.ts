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
import { actorOf } from '../access/actor.js';
import { INVALID_CREDENTIALS, type SessionIssue } from './session-issue.js';
import type { AuthLoginResult, MfaLoginRequired } from './auth.schemas.js';
import { mayIssueSession, type MfaState } from '../access/session-policy.js';

/**
 * What a sign-in shows beside the password. Of two codes the authenticator's counts, so that one attempt is one guess.
 */
export interface Shown {
  /** Of the authenticator, or a recovery code. */
  readonly mfaCode?: string | null;
  readonly emailCode?: string | null;
  /** The secret that was offered at a first login; `mfaCode` is then made from it. */
  readonly mfaSetupSecret?: string | null;
}

/**
 * Sign-in by password. Throws UNAUTHENTICATED alike for an unknown tenant, an unknown email, a disabled member, one
 * without a password and a wrong password, after one and the same work; MFA_CODE_INVALID for a wrong second factor;
 * RATE_LIMITED while too many of either have failed; OVERLOADED when too many wait. With a right password alone it
 * answers what else is needed, where something is.
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

  /** Uses up what was shown; nothing of it counts for a member who needs no second factor. */
  const proofOf = async (
    tx: Transaction,
    {
      account: { member },
      standing,
      shown,
      request,
    }: { account: Account; standing: Pick<MfaState, 'enrolled' | 'required'>; shown: Shown; request: RequestInfo },
  ): Promise<Proof> => {
    const { mfaCode, emailCode, mfaSetupSecret } = shown;
    if (standing.enrolled) {
      // Whoever offers a secret now did not get it from us, or comes second.
      if (mfaSetupSecret) return 'wrong';
      if (mfaCode) return proof(await secondFactor.take(tx, member, mfaCode));
      return emailCode ? proof((await emailCodes.take(tx, member, emailCode)) ? 'email_code' : undefined) : 'nothing';
    }
    if (!standing.required || !mfaSetupSecret) return 'nothing';
    const confirmed = await enrolment.confirm(tx, member, {
      secret: mfaSetupSecret,
      code: mfaCode ?? '',
      actor: actorOf(member, request),
      sessionId: null,
    });
    return typeof confirmed === 'string' ? 'wrong' : { factor: 'enrolment', recoveryCodes: confirmed.recoveryCodes };
  };

  /** Lets the member in, or says what else is needed, unless what was read before the hashing no longer holds. */
  const enter = async (
    tx: Transaction,
    { checked, shown, request }: { checked: Checked; shown: Shown; request: RequestInfo },
  ): Promise<Outcome> => {
    const account = await passwordCheck.stillHolds(tx, checked);
    if (!account) return refuse(tx, { checked, request, reason: 'password' });
    // Before anything is used up: a lock keeps out whoever guesses, also with the right code.
    const locked = await limits.locked(tx, checked.attempt);
    if (locked !== undefined) return { wait: locked };
    const standing = await secondFactor.standing(tx, account.member);
    const shownProof = await proofOf(tx, { account, standing, shown, request });
    if (shownProof === 'wrong') return refuse(tx, { checked, request, reason: 'second_factor' });
    const passed = typeof shownProof === 'object' ? shownProof : undefined;
    const mfa: MfaState = { ...standing, passed: passed !== undefined };
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

  /**
   * The password was right, so this is neither a failure nor a success: it clears nothing, or codes could be guessed
   * for ever.
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
    if ('refused' in outcome)
      throw outcome.refused === 'second_factor'
        ? fail('MFA_CODE_INVALID', {})
        : fail('UNAUTHENTICATED', { message: INVALID_CREDENTIALS });
    if ('needed' in outcome) return outcome.needed;
    const { recoveryCodes, ...entry } = outcome;
    // Who enrols has no other session from then on.
    if (recoveryCodes) changes.tell({ kind: 'member', tenantId: entry.tenant.id, memberId: entry.member.id });
    return { ...(await issue.loginResult(entry)), ...(recoveryCodes && { recoveryCodes }) };
  };
}

const FACTOR_NEEDED =
  'Repeat the login with a code of your authenticator, or a recovery code, as mfaCode; or with emailCode, where the email fallback is available.';
const ENROLMENT_NEEDED =
  'Add the secret to an authenticator app, and repeat the login with the secret as mfaSetupSecret and a code of the app as mfaCode, within ten minutes.';

type Proof = 'nothing' | 'wrong' | { readonly factor: string; readonly recoveryCodes?: string[] };

const proof = (factor: string | undefined): Proof => (factor === undefined ? 'wrong' : { factor });

/** Answered, not thrown: counts and audit rows of a failure must be committed. */
type Outcome =
  | (Account & { readonly session: SessionRecord; readonly recoveryCodes: string[] | undefined })
  | { readonly wait: number }
  | { readonly refused: 'password' | 'second_factor' }
  | { readonly needed: MfaLoginRequired };

async function upgradeHash(tx: Transaction, { tenant, member }: Account, { matched }: Checked): Promise<void> {
  if (matched?.betterHash === undefined) return;
  await new MemberStore(tx, tenant.id).upgradePasswordHash({
    id: member.id,
    from: matched.hash,
    to: matched.betterHash,
  });
}
