import type { RemindedLine } from '../../data-plane-agent/plane/contract/records/reminder-messages.js';
import type { ChannelRecord } from '../store/channels.js';
import type { Rendered } from '../notifications/channels/adapter.js';
import type { ReminderLine } from '../notifications/notices/notice.js';
import { shownRecipients } from '../notifications/through-channel.js';
import { composedReminder } from './topics/reminder-notice.js';
import type { TopicParts } from './topics/topic.js';

/** What a reminder says, and whom it reaches. */
export interface RenderedReminder extends Rendered {
  /** Addresses, or the displayed form of the channel's URL. */
  readonly recipients: readonly string[];
  /** The values that the text contains. */
  readonly values: ReminderLine;
}

/**
 * A reminder of the line that a member would send through the channel at the instant; `undefined` if the organisation
 * does not exist.
 */
export async function renderedReminder(
  line: RemindedLine,
  to: { readonly tenantId: string; readonly channel: ChannelRecord; readonly at: number },
  parts: Pick<TopicParts, 'database' | 'directory' | 'contractLink' | 'sender'>,
): Promise<RenderedReminder | undefined> {
  const composed = await composedReminder([{ step: 'manual', recipientId: null, line }], to, parts);
  const [values] = composed?.notice.lines ?? [];
  if (!composed || !values) return undefined;
  const { notice, language, recipients } = composed;
  const { channel } = to;
  return {
    ...parts.sender.render(notice, { kind: channel.kind, language }),
    recipients: shownRecipients({ channel, ...(recipients ? { recipients } : {}) }),
    values,
  };
}
