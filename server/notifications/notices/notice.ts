import type { DeliveryStep } from '../../../data-plane-agent/plane/contract/vocabulary.js';

/** The position of a reminder in the ladder of its payment line. `manual`: sent by a member. */
export type ReminderStep = DeliveryStep;

/** A payment line as reminders show it. Amounts are in major units. */
export interface ReminderLine {
  readonly contractId: string;
  readonly contractNo: string;
  readonly projectName: string;
  /** The customer. */
  readonly partyA: string;
  readonly partyB: string;
  readonly subjectName: string;
  readonly paymentId: string;
  readonly period: string;
  /** `YYYY-MM-DD`. */
  readonly dueDate: string;
  readonly amount: number;
  readonly receivedAmount: number;
  readonly outstandingAmount: number;
  readonly currencyCode: string;
  /** Negative before the due date. */
  readonly daysOverdue: number;
  readonly step: ReminderStep;
  readonly ownerName: string | null;
  /** See `contractLink`. */
  readonly link: string | null;
}

/**
 * Everything that can be announced through a notification channel. `at` is when it happened, in epoch milliseconds: a
 * message that is rendered again for another attempt has the same one.
 */
export type Notice =
  | {
      readonly type: 'reminder';
      /** 1 to `MAX_LINES`. */
      readonly lines: readonly ReminderLine[];
      /** Shows a list even of a single line; several lines always are one. */
      readonly digest?: boolean;
      readonly at: number;
    }
  | {
      readonly type: 'workflow.moved';
      readonly contractId: string;
      readonly contractNo: string;
      readonly projectName: string;
      readonly fromStage: string;
      readonly toStage: string;
      readonly actorName: string;
      readonly note: string | null;
      readonly at: number;
      readonly link: string | null;
    }
  | {
      readonly type: 'file.infected';
      readonly fileId: string;
      readonly fileName: string;
      readonly contractId: string | null;
      readonly contractNo: string | null;
      /** The scanner's name of what it found. */
      readonly signature: string;
      readonly at: number;
      readonly link: string | null;
    }
  | {
      readonly type: 'channel.test';
      readonly tenantName: string;
      readonly channelName: string;
      readonly at: number;
    };

export type NoticeOf<T extends Notice['type']> = Extract<Notice, { type: T }>;

/** The lines of one message. */
export const MAX_LINES = 20;

export const isDigest = ({ lines, digest = false }: NoticeOf<'reminder'>): boolean => digest || lines.length > 1;

/** From `CONTRACT_LINK`; `null` without that setting. */
export const contractLink = (template: string | undefined, contractId: string): string | null =>
  template?.replaceAll('{contractId}', encodeURIComponent(contractId)) ?? null;

/** Characters that end or structure a link in one of the formats are refused by the setting. */
const LINK = /^https?:\/\/[^\s\p{Cc}<>()[\]{}|"'`\\*]{1,2000}$/u;

/** The link, if no format could read more than a link from it. */
export const safeLink = (link: string | null): string | null => (link !== null && LINK.test(link) ? link : null);
