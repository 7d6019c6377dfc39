import type { Transaction } from '../../data-plane-agent/base/database/database.js';

/** What each template of mail is filled with. Values are plain text: the templates escape them for HTML. */
export interface MailValues {
  /** The six digits that stand in for an authenticator at a login. */
  login_code: { readonly tenantName: string; readonly code: string; readonly minutes: number };
  invitation: { readonly tenantName: string; readonly inviterName: string; readonly link: string; readonly days: number };
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
export type SignInChange = 'authenticator_added' | 'authenticator_removed' | 'passkey_added' | 'passkey_removed' | 'email_changed';

export type MailTemplate = keyof MailValues;

export type MailMessage = {
  readonly [T in MailTemplate]: {
    readonly tenantId: string;
    /** One address; checked when the member or invitation was made. */
    readonly to: string;
    readonly template: T;
    readonly values: MailValues[T];
    /** A BCP 47 tag; English when we have no such template. */
    readonly language: string;
    /** The record that the mail is about: its delivery is told in the audit under it, and can be asked for. */
    readonly about?: { readonly kind: string; readonly id: string };
    /** After this instant (epoch milliseconds) nobody can use it, and it is not sent any more. */
    readonly notAfter?: number;
  };
}[MailTemplate];

/** Mail that leaves after the transaction it was put down in has committed, at least once. */
export interface MailOutbox {
  /** Whether there is a mail server. Without one `enqueue` puts down the mail as not sent, so that the audit tells of it. */
  readonly configured: boolean;
  /** Puts the mail down in the caller's transaction; nothing is sent when that is rolled back. */
  enqueue(tx: Transaction, message: MailMessage): Promise<void>;
  /** Does the work of `enqueue` for mail to nobody, so that it cannot be told who exists. */
  enqueueNothing(tx: Transaction, message: Pick<MailMessage, 'template' | 'values' | 'notAfter'>): Promise<void>;
  /** Takes back what has not been sent: its token has been replaced. */
  withdraw(tx: Transaction, mail: { readonly tenantId: string; readonly template: MailTemplate; readonly about: { readonly kind: string; readonly id: string } }): Promise<void>;
}
