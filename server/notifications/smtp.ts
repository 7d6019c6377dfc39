import { Socket } from 'node:net';
import nodemailer from 'nodemailer';
import type { MailAddress } from './address.js';
import { smtpEncryption } from './smtp-encryption.js';

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

/**
 * Hands one mail to the mail server. Rejects when the server did not take it; then it may have taken it all the same.
 */
export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** Through `SMTP_URL`, from `MAIL_FROM`; each attempt has a connection of its own and an end. */
export function createSmtp({ url, from }: { url: string; from: MailAddress }): SendMail {
  const transport = nodemailer.createTransport({
    ...optionsOf(url),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: 2 * STEP_MS,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return async ({ id, to, date, subject, text, html }) => {
    await transport
      .sendMail({
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
      })
      .catch((error: unknown) => Promise.reject(inWords(error)));
  };
}

/**
 * Greets the mail server and signs in where `SMTP_URL` has a user, and sends nothing. Rejects when it cannot, or when
 * the whole takes longer than `deadlineMs`.
 */
export async function greetSmtp({ url, deadlineMs }: { url: string; deadlineMs: number }): Promise<void> {
  // Of our own, because the library's time-outs are for silence: a server that speaks slowly enough would be listened
  // to for ever.
  const socket = new Socket();
  const transport = nodemailer.createTransport({
    ...optionsOf(url),
    socket,
    connectionTimeout: deadlineMs,
    greetingTimeout: deadlineMs,
    dnsTimeout: deadlineMs,
    socketTimeout: deadlineMs,
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error(`no end after ${deadlineMs} ms`), { code: 'ETIMEDOUT' })),
      deadlineMs,
    );
  });
  try {
    await Promise.race([transport.verify(), late]);
  } catch (error) {
    throw inWords(error);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

const optionsOf = (url: string) => ({
  url,
  // Options in the address itself come before these: `?requireTLS=false` for a relay in the next room that knows no
  // TLS.
  requireTLS: smtpEncryption(url) === 'always',
  // A mail is what the templates made of it, never a file or an address that somebody got into it.
  disableFileAccess: true,
  disableUrlAccess: true,
});

const STEP_MS = 10_000;
/** Also for a server that speaks slowly enough never to be silent. */
const WHOLE_MS = 60_000;

/** The library's own words tell what the server said, and not what can be done about it. */
function inWords(error: unknown): unknown {
  if (property(error, 'code') !== 'ETLS') return error;
  return Object.assign(
    new Error(
      'The mail server offers no encryption (STARTTLS) that can be used, and SMTP_URL does not let mail go without; nothing was sent',
      { cause: error },
    ),
    { code: 'ETLS' },
  );
}

/**
 * The server will never take this recipient (5xx to the envelope); any other refusal may be a fault that somebody
 * mends.
 */
export const isRefusedRecipient = (error: unknown): boolean =>
  property(error, 'code') === 'EENVELOPE' && Number(property(error, 'responseCode')) >= 500;

/** Such as `ECONNREFUSED` or `EENVELOPE 550`: the server's text may hold anything. */
export const smtpCodeOf = (error: unknown): string =>
  [property(error, 'code') ?? 'ERROR', property(error, 'responseCode')]
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, 100);

function property(error: unknown, name: 'code' | 'responseCode'): string | undefined {
  const value: unknown =
    typeof error === 'object' && error !== null && name in error ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
