import { Socket } from 'node:net';
import { onFirstUse } from '../../data-plane-agent/base/on-first-use.js';
import type { MailAddress } from './address.js';
import { smtpEncryption } from './smtp-encryption.js';

/** A rendered mail. */
export interface OutgoingMail {
  /** The id of the outbox row: all attempts have the same Message-ID, so that receivers recognise duplicates. */
  readonly id: string;
  /** One address, or several that see each other. */
  readonly to: string | readonly string[];
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** A total time limit that is shorter than the usual one. */
  readonly deadlineMs?: number;
  /** Called if the server refuses some of several addresses and accepts the mail for the others. */
  onRefused?(addresses: readonly string[]): void;
}

/** Sends one mail to the mail server. A rejection does not prove that the server did not accept the mail. */
export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** Sends through `SMTP_URL`, from `MAIL_FROM`; each attempt has its own connection and a total timeout. */
export function createSmtp({ url, from }: { url: string; from: MailAddress }): SendMail {
  const transport = onFirstUse(async () =>
    (await nodemailer()).createTransport({
      ...optionsOf(url),
      connectionTimeout: STEP_MS,
      greetingTimeout: STEP_MS,
      dnsTimeout: STEP_MS,
      socketTimeout: 2 * STEP_MS,
    }),
  );
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return async ({ id, to, date, subject, text, html, deadlineMs = WHOLE_MS, onRefused }) => {
    const addresses = typeof to === 'string' ? [to] : to;
    const { rejected } = await (
      await transport()
    )
      .sendMail({
        from: { ...from },
        to: addresses.map((address) => ({ name: '', address })),
        envelope: { from: from.address, to: [...addresses] },
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        date,
        subject,
        text,
        html,
        signal: AbortSignal.timeout(deadlineMs),
      })
      .catch((error: unknown) => Promise.reject(explained(error)));
    if (rejected.length > 0) onRefused?.(rejected.map(String));
  };
}

/**
 * Connects to the mail server, and signs in if `SMTP_URL` has a user, without sending mail. Rejects on failure, or
 * after `deadlineMs` in total.
 */
export async function greetSmtp({ url, deadlineMs }: { url: string; deadlineMs: number }): Promise<void> {
  // Our own socket, because the library's timeouts only limit inactivity: a server that sends data slowly would never
  // time out.
  const socket = new Socket();
  const transport = (await nodemailer()).createTransport({
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
      () => reject(Object.assign(new Error(`not finished after ${deadlineMs} ms`), { code: 'ETIMEDOUT' })),
      deadlineMs,
    );
  });
  try {
    await Promise.race([transport.verify(), late]);
  } catch (error) {
    throw explained(error);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** Loaded with the first mail, because most processes send none. */
const nodemailer = onFirstUse(async () => (await import('nodemailer')).default);

const optionsOf = (url: string) => ({
  url,
  // Options in the URL take precedence: for example `?requireTLS=false` for a relay on the local network without TLS.
  requireTLS: smtpEncryption(url) === 'always',
  // The content comes only from the templates, never from a file or URL injected into a value.
  disableFileAccess: true,
  disableUrlAccess: true,
});

const STEP_MS = 10_000;
/** The total time limit, also for a server that sends data slowly. */
const WHOLE_MS = 60_000;

/** Replaces the library's message for a missing TLS, which does not say what to do. */
function explained(error: unknown): unknown {
  if (property(error, 'code') !== 'ETLS') return error;
  return Object.assign(
    new Error(
      'The mail server offers no usable encryption (STARTTLS), and SMTP_URL does not allow unencrypted mail; nothing was sent',
      { cause: error },
    ),
    { code: 'ETLS' },
  );
}

/** Whether the server permanently refuses the recipient (5xx to the envelope); any other refusal may be temporary. */
export const isRefusedRecipient = (error: unknown): boolean =>
  property(error, 'code') === 'EENVELOPE' && Number(property(error, 'responseCode')) >= 500;

/** For example `ECONNREFUSED` or `EENVELOPE 550`. The server's text is not included, since it may contain anything. */
export const smtpCodeOf = (error: unknown): string =>
  [property(error, 'code') ?? 'ERROR', property(error, 'responseCode')]
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, 100);

/**
 * The error code, and the reason where the server was not reached, which the codes do not tell. What a server answered is left
 * out: it may quote the user.
 */
export function smtpReasonOf(error: unknown): string {
  const code = smtpCodeOf(error);
  const isConnection = /^(ESOCKET|ECONNECTION|EDNS|ETIMEDOUT)$/.test(code);
  return isConnection && error instanceof Error ? `${code}: ${error.message.slice(0, 200)}` : code;
}

function property(error: unknown, name: 'code' | 'responseCode'): string | undefined {
  const value: unknown =
    typeof error === 'object' && error !== null && name in error ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
