/**
 * The ways to start a session. A password reset starts none, so a login with the new password is `password`.
 * `registration` includes redeeming a code.
 */
export const WAYS = ['password', 'passkey', 'sso', 'registration', 'invitation'] as const;
export type Way = (typeof WAYS)[number];

/**
 * Decides whether a session may be issued, for every way to sign in. A passkey with user verification is two factors;
 * with SSO the provider is responsible for the second factor; after registering or accepting an invitation, the session
 * is restricted until an authenticator is enrolled.
 */
export function mayIssueSession({
  way,
  tenant,
  member,
  mfa,
}: AccountStatus & { readonly way: Way; readonly mfa: MfaState }): Verdict {
  if (!isActiveAccount({ tenant, member })) return 'no';
  if (way !== 'password' || mfa.passed) return 'yes';
  if (mfa.enrolled) return 'factor_needed';
  return mfa.required ? 'enrolment_needed' : 'yes';
}

/**
 * Whether a session is restricted to `/auth/*`: policy requires an authenticator, none is enrolled, and the way of
 * signing in was not two factors by itself. Checked for each request, because permissions may be added during the
 * session. `way` is null for old sessions, which are treated like passwords.
 */
export const owesEnrolment = ({
  way,
  required,
  enrolled,
}: Pick<MfaState, 'required' | 'enrolled'> & { readonly way: Way | null }): boolean =>
  required && !enrolled && way !== 'passkey' && way !== 'sso';

/**
 * `factor_needed`: a second factor is enrolled but was not sent. `enrolment_needed`: policy requires one, and none is
 * enrolled.
 */
export type Verdict = 'yes' | 'no' | 'factor_needed' | 'enrolment_needed';

/** Whether the member may sign in; an issued session remains valid only while this holds. */
export const isActiveAccount = ({ tenant, member }: AccountStatus): boolean =>
  tenant.status === 'active' && member.status === 'active';

export interface AccountStatus {
  readonly tenant: { readonly status: 'active' | 'suspended' };
  readonly member: { readonly status: 'active' | 'disabled' };
}

export interface MfaState {
  /** The member has an authenticator. */
  readonly enrolled: boolean;
  /** Policy requires a second factor for the member's role. */
  readonly required: boolean;
  /** A second factor was sent with this attempt and is valid. */
  readonly passed: boolean;
}

/** For all ways except passwords, where the second factor is not checked. */
export const NO_MFA: MfaState = { enrolled: false, required: false, passed: false };
