/**
 * The ways in. A password after a reset is `password`: a reset opens no session by itself. `registration` is redeeming
 * too.
 */
export const WAYS = ['password', 'passkey', 'sso', 'registration', 'invitation'] as const;
export type Way = (typeof WAYS)[number];

/**
 * The one decision whether a session may be issued, whatever the way in. A passkey with user verification is two
 * factors; with SSO the second factor is the provider's matter; who has just registered or accepted an invitation has a
 * session that opens nothing until they enrol.
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
 * Whether a session opens nothing but `/auth/*`: policy asks for an authenticator, there is none, and the way in was
 * not two factors by itself. Asked anew of each request, because rights may come later than the session. Of a session
 * from before ways were written down the worst is assumed.
 */
export const owesEnrolment = ({
  way,
  required,
  enrolled,
}: Pick<MfaState, 'required' | 'enrolled'> & { readonly way: Way | null }): boolean =>
  required && !enrolled && way !== 'passkey' && way !== 'sso';

/**
 * `factor_needed`: there is a second factor, and it was not shown. `enrolment_needed`: policy asks for one, and there
 * is none.
 */
export type Verdict = 'yes' | 'no' | 'factor_needed' | 'enrolment_needed';

/** Whether the member may be let in at all; a session that was issued goes on only while this holds. */
export const isActiveAccount = ({ tenant, member }: AccountStatus): boolean =>
  tenant.status === 'active' && member.status === 'active';

export interface AccountStatus {
  readonly tenant: { readonly status: 'active' | 'suspended' };
  readonly member: { readonly status: 'active' | 'disabled' };
}

export interface MfaState {
  /** The member has an authenticator. */
  readonly enrolled: boolean;
  /** Policy asks the member's role for a second factor. */
  readonly required: boolean;
  /** A second factor was shown with this attempt, and was right. */
  readonly passed: boolean;
}

/** For every way but the password, where nothing of it is asked. */
export const NO_MFA: MfaState = { enrolled: false, required: false, passed: false };
