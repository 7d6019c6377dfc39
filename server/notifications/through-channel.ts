import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { ChannelStore, type ChannelRecord } from '../store/channels.js';
import { recordOutcome } from './channel-outcome.js';
import type { Outcome } from './engine.js';
import type { NoticeMessage, NoticeSender } from './send.js';

/** Sends a notice through a channel, and records with the channel how that ended. */
export async function sendThrough(
  message: NoticeMessage,
  { database, clock, sender }: { readonly database: Database; readonly clock: Clock; readonly sender: NoticeSender },
): Promise<Outcome> {
  const { tenantId, channel } = message;
  const sent = await sender.send(message);
  const at = clock.now();
  await database.write({ tenantId: null }, async (tx) => {
    await recordOutcome(tx, { tenantId, channel, sent, at });
    if (!sent.delivered && sent.retryAfterMs !== undefined)
      await new ChannelStore(tx, tenantId).pauseUntil({ id: channel.id, until: at + sent.retryAfterMs });
  });
  const rendered = { subject: sent.subject, recipients: shownRecipients(message), kind: channel.kind };
  if (sent.delivered) return { delivered: true, ...rendered };
  const { error, retryAfterMs, isFinal, isUnconfigured } = sent;
  return { delivered: false, error, retryAfterMs, isFinal, isUnconfigured, ...rendered };
}

/** The addresses of a mail, or the displayed form of the channel's URL. */
export const shownRecipients = ({ channel, recipients }: Pick<NoticeMessage, 'channel' | 'recipients'>): string[] =>
  recipients === undefined ? (channel.target === null ? [] : [channel.target]) : [...recipients];

export const channelById = (
  database: Database,
  { tenantId, channelId }: { readonly tenantId: string; readonly channelId: string },
): Promise<ChannelRecord | undefined> =>
  database.read({ tenantId: null }, (tx) => new ChannelStore(tx, tenantId).byId(channelId));
