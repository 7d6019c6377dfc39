/** What each template of mail is filled with. Values are plain text: the templates escape them for HTML. */
export interface MailValues {
  /** The six digits that stand in for an authenticator at a login. */
  login_code: { readonly tenantName: string; readonly code: string; readonly minutes: number };
  invitation: {
    readonly tenantName: string;
    readonly inviterName: string;
    readonly link: string;
    readonly days: number;
  };
  password_reset: { readonly tenantName: string; readonly link: string; readonly hours: number };
  /** A notice after the fact, so that somebody who did not do it learns of it. */
  password_changed: { readonly tenantName: string };
  /** A notice to a member whose account a provider of single sign-on opens from now on. */
  sso_linked: { readonly tenantName: string; readonly providerName: string };
  /** A notice after the fact, to the address that the account had before. */
  sign_in_changed: { readonly tenantName: string; readonly change: SignInChange };
  /** A notice after the fact to a member who has admin (edit) now, or has it no more. */
  admin_changed: { readonly tenantName: string; readonly change: 'gained' | 'lost' };
  /** To both the old and the new owner. */
  owner_transferred: { readonly tenantName: string; readonly fromName: string; readonly toName: string };
}

/** What became of how somebody signs in. */
export type SignInChange =
  'authenticator_added' | 'authenticator_removed' | 'passkey_added' | 'passkey_removed' | 'email_changed';

export type MailTemplate = keyof MailValues;
