import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import type { MailTemplate, MailValues } from './templates/values.js';

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
  /**
   * Whether there is a mail server. Without one `enqueue` puts down the mail as not sent, so that the audit tells of
   * it.
   */
  readonly configured: boolean;
  /** Puts the mail down in the caller's transaction; nothing is sent when that is rolled back. */
  enqueue(tx: Transaction, message: MailMessage): Promise<void>;
  /**
   * Does the work of `enqueue` for mail to nobody, so that it cannot be told who exists. Such mail is in so many rows
   * and no more.
   */
  enqueueNothing(tx: Transaction, message: Pick<MailMessage, 'template' | 'values' | 'notAfter'>): Promise<void>;
  /** Takes back what has not been sent: its token has been replaced. */
  withdraw(
    tx: Transaction,
    mail: {
      readonly tenantId: string;
      readonly template: MailTemplate;
      readonly about: { readonly kind: string; readonly id: string };
    },
  ): Promise<void>;
}
