import type { OutboxMessage } from '../../../data-plane-agent/plane/contract/records/outbox.js';
import type { SkipReason } from '../../../data-plane-agent/plane/contract/vocabulary.js';
import type { ChannelRecord } from '../../store/channels.js';
import { adapterOf } from '../../notifications/channels/index.js';
import type { Outcome } from '../../notifications/engine.js';
import type { Notice } from '../../notifications/notices/notice.js';
import { mailRecipients } from '../../notifications/send.js';
import { sendThrough } from '../../notifications/through-channel.js';
import type { People } from './people.js';
import type { TopicParts } from './topic.js';

/** Nothing was sent, and nothing will be: the reason is kept with the message and logged. */
export const notNeeded = (reason: SkipReason): Outcome => ({ delivered: true, reason });

/**
 * The addresses of a notice that concerns one member: those of the channel, or else the member, or the owner of the
 * organisation if the member has left. `undefined` for channels that send no mail.
 */
export function noticeRecipients(
  channel: Pick<ChannelRecord, 'kind' | 'target'>,
  { memberId, people }: { readonly memberId: string | null; readonly people: People },
): readonly string[] | undefined {
  if (adapterOf(channel.kind).transport !== 'mail') return undefined;
  const address = people.address(memberId) ?? people.owner;
  return mailRecipients(channel, address === undefined ? [] : [address]);
}

/** One attempt to send a notice through a channel that was read just now. */
export async function sendNotice(
  message: Pick<OutboxMessage, 'id'>,
  {
    channel,
    notice,
    memberId,
    people,
  }: {
    readonly channel: ChannelRecord | undefined;
    readonly notice: Notice;
    readonly memberId: string | null;
    readonly people: People;
  },
  { database, clock, sender }: Pick<TopicParts, 'database' | 'clock' | 'sender'>,
): Promise<Outcome> {
  if (!channel) return notNeeded('NO_CHANNEL');
  if (!channel.enabled) return notNeeded('CHANNEL_DISABLED');
  const recipients = noticeRecipients(channel, { memberId, people });
  if (recipients?.length === 0) return notNeeded('NO_RECIPIENT');
  return sendThrough(
    {
      tenantId: people.tenant.id,
      channel,
      id: message.id,
      notice,
      language: people.tenant.settings.defaultLanguage ?? 'en',
      ...(recipients ? { recipients } : {}),
    },
    { database, clock, sender },
  );
}
