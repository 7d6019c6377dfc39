import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import { OutboundError, type Outbound } from '../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { channelSecretContext, channelTargetContext, type ChannelRecord } from '../store/channels.js';
import type { HttpAdapter, Rendered, Verdict } from './channels/adapter.js';
import { adapterOf } from './channels/index.js';
import type { Notice } from './notices/notice.js';
import { isRefusedRecipient, smtpCodeOf, type SendMail } from './smtp.js';

/** Renders notices, and sends them through channels. Neither writes to the database: see `recordOutcome`. */
export interface NoticeSender {
  /** What `send` sends for the same notice and language. */
  render(notice: Notice, to: { readonly kind: string; readonly language: string }): Rendered;
  /**
   * Makes one attempt, also through a disabled channel. Resolves for every failure, within about twenty seconds. A
   * failure that is not the receiver's, such as a secret that cannot be decrypted, is a verdict too.
   */
  send(message: NoticeMessage): Promise<Sent>;
}

export interface NoticeMessage {
  readonly tenantId: string;
  readonly channel: ChannelRecord;
  /** The same for every attempt: receivers recognise a repeated message by it. */
  readonly id: string;
  readonly notice: Notice;
  /** A BCP 47 tag; English is used if there is no such wording. */
  readonly language: string;
  /** The addresses that a mail channel without a target sends to. */
  readonly recipients?: readonly string[];
}

export type Sent = Attempt & { readonly subject: string };
type Attempt = Verdict & {
  /** The status that an HTTP receiver answered. */
  readonly status?: number;
  /** The addresses that the mail server refused while it accepted others. */
  readonly refused?: readonly string[];
};

/** The addresses that a message through the channel is mailed to; none for other kinds. */
export const mailRecipients = (
  { kind, target }: Pick<ChannelRecord, 'kind' | 'target'>,
  otherwise: readonly string[] = [],
): readonly string[] => {
  if (adapterOf(kind).transport !== 'mail') return [];
  return target === null ? otherwise : target.split(/\s*,\s*/);
};

/** Shorter than for other mails: a member may wait for the result. */
const MAIL_MS = 20_000;

export function createNoticeSender({
  outbound,
  mail,
  keyRing,
  clock,
  log,
  productName,
  quotesReceivers = true,
}: {
  outbound: Pick<Outbound, 'request'>;
  /** Undefined without a mail server. */
  mail: SendMail | undefined;
  keyRing: KeyRing;
  clock: Clock;
  log: Log;
  productName: string;
  /**
   * Whether errors quote what receivers answered. A receiver may repeat the message, and errors are stored by the
   * control plane and logged.
   */
  quotesReceivers?: boolean;
}): NoticeSender {
  const render: NoticeSender['render'] = (notice, { kind, language }) =>
    adapterOf(kind).render(notice, { language, productName });

  const post = async (
    adapter: HttpAdapter,
    { tenantId, channel, id }: NoticeMessage,
    rendered: Rendered,
  ): Promise<Attempt> => {
    const place = { tenantId, id: channel.id };
    const target =
      channel.targetSealed === null
        ? channel.target
        : keyRing.openText(channel.targetSealed, channelTargetContext(place));
    if (target === null) return { delivered: false, error: 'the channel has no target', isFinal: true };
    const secret =
      channel.secretSealed === null ? null : keyRing.openText(channel.secretSealed, channelSecretContext(place));
    const answer = await outbound.request(adapter.request(rendered, { target, secret, id, now: clock.now() }));
    const verdict = adapter.verdict(answer, clock.now());
    if (verdict.delivered) return { ...verdict, status: answer.status };
    const { unquoted, ...failed } = verdict;
    const error = quotesReceivers ? failed.error : (unquoted ?? failed.error);
    return { ...failed, error, status: answer.status };
  };

  const mailed = async (message: NoticeMessage, rendered: Rendered): Promise<Attempt> => {
    if (!mail) return { delivered: false, error: NO_MAIL_SERVER, isUnconfigured: true };
    const to = mailRecipients(message.channel, message.recipients);
    if (to.length === 0) return { delivered: false, error: 'there is no address to send to', isFinal: true };
    let refused: readonly string[] = [];
    await mail({
      id: message.id,
      to,
      date: new Date(clock.now()),
      subject: rendered.subject,
      text: rendered.text ?? rendered.body,
      html: rendered.body,
      deadlineMs: MAIL_MS,
      onRefused: (addresses) => {
        refused = addresses;
      },
    }).catch((error: unknown) =>
      Promise.reject(new MailFailure('the mail server did not accept it', { cause: error })),
    );
    return { delivered: true, refused };
  };

  return {
    render,
    send: async (message) => {
      const { tenantId, channel, notice, language } = message;
      const { id, kind } = channel;
      let subject = '';
      try {
        const rendered = render(notice, { kind, language });
        subject = rendered.subject;
        const adapter = adapterOf(kind);
        const attempt =
          adapter.transport === 'mail' ? await mailed(message, rendered) : await post(adapter, message, rendered);
        return { ...attempt, subject };
      } catch (error) {
        log.warn({ err: error, tenantId, channel: id, kind }, 'notification not sent');
        return { subject, ...failure(error) };
      }
    },
  };
}

export const NO_MAIL_SERVER = 'no mail server is configured: the operator sets SMTP_URL and MAIL_FROM';

class MailFailure extends Error {}

/** The cause is in the log only: it may describe the internal network. */
function failure(error: unknown): Extract<Verdict, { delivered: false }> {
  if (error instanceof OutboundError) return { delivered: false, error: OUTBOUND_ERRORS[error.code] };
  if (error instanceof MailFailure)
    return {
      delivered: false,
      error: `the mail server did not accept the message (${smtpCodeOf(error.cause)})`,
      ...(isRefusedRecipient(error.cause) ? { isFinal: true } : {}),
    };
  return { delivered: false, error: 'the message could not be prepared; the log of the server has the reason' };
}

const OUTBOUND_ERRORS: Readonly<Record<OutboundError['code'], string>> = {
  ADDRESS_REFUSED: 'requests to the address of the receiver are not allowed',
  UNREACHABLE: 'the receiver did not respond',
  TIMED_OUT: 'the receiver did not respond in time',
  ANSWER_TOO_LARGE: 'the response of the receiver is too large',
};
