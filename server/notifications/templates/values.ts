/** The values of each mail template, as plain text: the templates escape them for HTML. */
export interface MailValues {
  /** The six digits that replace an authenticator code at a login. */
  login_code: { readonly tenantName: string; readonly code: string; readonly minutes: number };
  invitation: {
    readonly tenantName: string;
    readonly inviterName: string;
    readonly link: string;
    readonly days: number;
  };
  password_reset: { readonly tenantName: string; readonly link: string; readonly hours: number };
  /** Sent after a change, so that the member notices a change by someone else. */
  password_changed: { readonly tenantName: string };
  /** Sent to a member when a single sign-on provider is linked to the account. */
  sso_linked: { readonly tenantName: string; readonly providerName: string };
  /** Sent after a change, to the previous address of the account. */
  sign_in_changed: { readonly tenantName: string; readonly change: SignInChange };
  /** Sent to a member who has gained or lost admin (edit). */
  admin_changed: { readonly tenantName: string; readonly change: 'gained' | 'lost' };
  /** Sent to the member who uploaded the file, or to the owner of the organisation if they have left. */
  file_infected: {
    readonly tenantName: string;
    readonly fileName: string;
    readonly contractNo: string | null;
    /** The scanner's name of what it found. */
    readonly signature: string;
    readonly link: string | null;
  };
  /** Sent to both the old and the new owner. */
  owner_transferred: { readonly tenantName: string; readonly fromName: string; readonly toName: string };
}

/** A change of the ways to sign in to an account. */
export type SignInChange =
  | 'authenticator_added'
  | 'authenticator_removed'
  | 'passkey_added'
  | 'passkey_removed'
  | 'email_changed'
  | 'password_changed';

export type MailTemplate = keyof MailValues;
