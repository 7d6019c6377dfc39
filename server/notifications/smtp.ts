import nodemailer from 'nodemailer';
import type { MailAddress } from './address.js';

/** One mail, rendered. */
export interface OutgoingMail {
  /** The outbox row's: each attempt of one mail has the same Message-ID, so that receivers know a second copy. */
  readonly id: string;
  readonly to: string;
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Hands one mail to the mail server. Rejects when the server did not take it; then it may have taken it all the same. */
export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** Through `SMTP_URL`, from `MAIL_FROM`; each attempt has a connection of its own and an end. */
export function createSmtp({ url, from }: { url: string; from: MailAddress }): SendMail {
  const transport = nodemailer.createTransport({
    url,
    // Options in the address itself come before these: `?requireTLS=false` for a relay in the next room that knows no TLS.
    requireTLS: carriesPassword(url),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: 2 * STEP_MS,
    // A mail is what the templates made of it, never a file or an address that somebody got into it.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return async ({ id, to, date, subject, text, html }) => {
    await transport.sendMail({
      from: { ...from },
      to: { name: '', address: to },
      envelope: { from: from.address, to: [to] },
      messageId: `<${id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      date,
      subject,
      text,
      html,
      signal: AbortSignal.timeout(WHOLE_MS),
    });
  };
}

const STEP_MS = 10_000;
/** Also for a server that speaks slowly enough never to be silent. */
const WHOLE_MS = 60_000;

const carriesPassword = (url: string): boolean => new URL(url).password !== '';
