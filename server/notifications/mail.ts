import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import type { MailTemplate, MailValues } from './templates/values.js';

export type MailMessage = {
  readonly [T in MailTemplate]: {
    readonly tenantId: string;
    /** One address, validated when the member or invitation was created. */
    readonly to: string;
    readonly template: T;
    readonly values: MailValues[T];
    /** A BCP 47 tag; English is used if there is no such template. */
    readonly language: string;
    /** The record that the mail is about: its delivery is recorded in the audit and can be queried for this record. */
    readonly about?: { readonly kind: string; readonly id: string };
    /** The time (epoch milliseconds) when the content expires; the mail is not sent after it. */
    readonly notAfter?: number;
    /** For mail that may be enqueued repeatedly: only the first one with this id is sent. */
    readonly id?: string;
  };
}[MailTemplate];

/** Mail that is sent at least once, after the transaction that enqueued it has committed. */
export interface MailOutbox {
  /**
   * Whether there is a mail server. Without one, `enqueue` stores the mail as not sent and records that in the audit.
   */
  readonly configured: boolean;
  /** Enqueues the mail in the caller's transaction; nothing is sent if it is rolled back. */
  enqueue(tx: Transaction, message: MailMessage): Promise<void>;
  /**
   * Does the same work as `enqueue` for placeholder mail without a recipient, so that timing does not reveal which
   * accounts exist. Such mail uses a fixed number of rows.
   */
  enqueuePlaceholder(tx: Transaction, message: Pick<MailMessage, 'template' | 'values' | 'notAfter'>): Promise<void>;
  /** Cancels mail that has not been sent, because its token was replaced. */
  withdraw(
    tx: Transaction,
    mail: {
      readonly tenantId: string;
      readonly template: MailTemplate;
      readonly about: { readonly kind: string; readonly id: string };
    },
  ): Promise<void>;
}
