import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { callbackify } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.js';

/** A received mail: the envelope, the bytes, and the parsed message. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly encrypted: boolean;
  readonly parsed: Email;
}

export interface MailServer {
  /** The value for `SMTP_URL`. */
  readonly url: string;
  /** A URL that does not look like this machine, to test the rules for other machines. */
  readonly elsewhere: string;
  /** In order of arrival. */
  readonly mails: readonly ReceivedMail[];
  /** The last mail to the address; throws if there is none. */
  last(to: string): ReceivedMail;
  /** Sets the reply code to `RCPT TO` (such as 550), of one address or all; undefined accepts recipients. */
  refuse(code: number | undefined, only?: string): void;
  stop(): Promise<void>;
}

/**
 * A real mail server in this process, on a free loopback port. It stores the received mails. With `account` it requires
 * authentication, also without TLS; `url` contains the credentials.
 */
export async function startMailServer({
  account,
  tls = false,
}: {
  account?: { user: string; password: string };
  /** Offers STARTTLS, with an untrusted certificate. */ tls?: boolean;
} = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let refusal: { readonly code: number | undefined; readonly only: string | undefined } | undefined;
  const server = new SMTPServer({
    authOptional: !account,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === account?.user && password === account?.password) done(null, { user: username });
      else done(new Error('wrong user or password'));
    },
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(account ? [] : ['AUTH'])],
    ...(tls ? { cert: CERTIFICATE, key: PRIVATE_KEY } : {}),
    disableReverseLookup: true,
    logger: false,
    onRcptTo: ({ address }, _session, done) => {
      const isRefused = refusal?.code !== undefined && (refusal.only ?? address) === address;
      done(isRefused ? Object.assign(new Error('refused by the test'), { responseCode: refusal?.code }) : null);
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        const { mailFrom, rcptTo } = session.envelope;
        const keep = async (): Promise<void> => {
          mails.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            raw: raw.toString('latin1'),
            encrypted: session.secure,
            parsed: await PostalMime.parse(raw),
          });
        };
        callbackify(keep)(done);
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://${account ? `${account.user}:${account.password}@` : ''}127.0.0.1:${(server.server.address() as AddressInfo).port}${account ? '/?requireTLS=false' : ''}`,
    elsewhere: `smtp://0.0.0.0:${(server.server.address() as AddressInfo).port}`,
    mails,
    last: (to) => {
      const found = mails.findLast((mail) => mail.to.includes(to));
      if (!found)
        throw new Error(
          `there is no mail to ${to}, only to ${mails.map((mail) => mail.to.join()).join(', ') || 'nobody'}`,
        );
      return found;
    },
    refuse: (code, only) => {
      refusal = { code, only };
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The token in a mail's link. */
export function tokenIn({ parsed }: ReceivedMail): string {
  const token = linkedToken(parsed);
  if (token === null) throw new Error(`no link with a token in: ${parsed.text ?? ''}`);
  return token;
}

/** The last token sent to the address. Mails that are sent together arrive in any order. */
export function lastTokenTo(to: string, mails: readonly ReceivedMail[]): string {
  const mail = mails.findLast(({ to: all, parsed }) => all.includes(to) && linkedToken(parsed) !== null);
  if (!mail) throw new Error(`no mail to ${to} has a link with a token`);
  return tokenIn(mail);
}

function linkedToken({ text }: Email): string | null {
  const link = /https?:\/\/\S+#\S+/.exec(text ?? '')?.[0];
  return link === undefined ? null : new URLSearchParams(new URL(link).hash.slice(1)).get('token');
}
