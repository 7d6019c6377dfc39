import type { OutboundAnswer, OutboundRequest } from '../../../data-plane-agent/base/outbound.js';
import type { Notice } from '../notices/notice.js';

/**
 * How one kind of channel is written to. Preview and sending use the same `render`: the body of a preview is the text
 * that is sent, byte for byte.
 */
export type ChannelAdapter = HttpAdapter | MailAdapter;

interface Adapter {
  /** Whether several payment lines are sent as one message. */
  readonly digests: boolean;
  readonly pace: Pace;
  render(notice: Notice, style: Style): Rendered;
}

/** A kind whose target is a URL. */
export interface HttpAdapter extends Adapter {
  readonly transport: 'http';
  request(rendered: Rendered, target: HttpTarget): OutboundRequest;
  /** Also reads errors from the body of an answer with status 200. `now` is in epoch milliseconds. */
  verdict(answer: OutboundAnswer, now: number): Verdict;
}

/** A kind whose target is mail addresses. */
export interface MailAdapter extends Adapter {
  readonly transport: 'mail';
}

export interface HttpTarget {
  readonly target: string;
  readonly secret: string | null;
  /** The id by which receivers recognise repeated messages. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Style {
  /** BCP 47. */
  readonly language: string;
  readonly productName: string;
}

export interface Rendered {
  readonly subject: string;
  readonly body: string;
  readonly format: 'text' | 'markdown' | 'html';
  /** The plain-text version of an HTML body. */
  readonly text?: string;
  /** Only some platforms show it. */
  readonly urgency: 'info' | 'warning' | 'urgent';
}

export type Verdict =
  | { readonly delivered: true }
  | {
      readonly delivered: false;
      /** A sentence without secrets. */
      readonly error: string;
      /** The same without what the receiver answered, if `error` quotes it. */
      readonly unquoted?: string;
      /** How long the receiver asks to wait. */
      readonly retryAfterMs?: number;
      /** Another attempt has no purpose. */
      readonly isFinal?: boolean;
      /** The receiver no longer exists: the channel is disabled. */
      readonly disables?: boolean;
      /** This installation is set up without what it takes, such as a mail server. */
      readonly isUnconfigured?: boolean;
    };

/**
 * The rate of a channel, for `ChannelStore.reserveSlot`. A burst of 1 keeps to the limit in every window of time, not
 * only on average.
 */
export interface Pace {
  readonly everyMs: number;
  readonly burst: number;
}

/** Chats: people read them. The limits that the platforms publish are the same or higher, see each adapter. */
export const TWENTY_A_MINUTE: Pace = { everyMs: 3_000, burst: 1 };
export const TEN_A_SECOND: Pace = { everyMs: 100, burst: 1 };
