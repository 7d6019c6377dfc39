import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { MailAddress } from '../notifications/address.js';
import { createNoticeSender, type NoticeSender } from '../notifications/send.js';
import { createSmtp } from '../notifications/smtp.js';

/** The settings for notification channels. */
export interface SenderOptions {
  readonly keyRing: KeyRing;
  readonly productName: string;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: MailAddress | undefined;
}

export const composeSender = (
  { keyRing, productName, smtpUrl, mailFrom }: SenderOptions,
  parts: { readonly clock: Clock; readonly log: Log; readonly outbound: Pick<Outbound, 'request'> },
): NoticeSender =>
  createNoticeSender({
    ...parts,
    keyRing,
    productName,
    mail: smtpUrl !== undefined && mailFrom !== undefined ? createSmtp({ url: smtpUrl, from: mailFrom }) : undefined,
  });
