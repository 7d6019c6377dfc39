import type { Clock } from '../../data-plane-agent/base/clock.js';
import { fail, isFailure } from '../../data-plane-agent/base/failures.js';
import type { KeyedRequest } from '../../data-plane-agent/base/http/request.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import { warn, type GivenWarning } from '../../data-plane-agent/base/warnings.js';
import type { ReminderDelivery } from '../../data-plane-agent/plane/contract/records/collections.js';
import {
  MOST_LISTED,
  type ManualChannel,
  type RemindableLine,
} from '../../data-plane-agent/plane/contract/records/manual-reminders.js';
import { MOST_REMINDED } from '../../data-plane-agent/plane/contract/records/reminder-messages.js';
import type { CollectionTab } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Plane } from '../data-planes/plane.js';
import { adapterOf, CHANNEL_KINDS } from '../notifications/channels/index.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import { renderedReminder, type RenderedReminder } from '../deliveries/rendered-reminder.js';
import { ChannelStore, type ChannelRecord } from '../store/channels.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import type { BulkReminderResult, ReminderPreview, ReminderResult } from './reminders.schemas.js';

interface OfLine {
  readonly tenantId: string;
  readonly contractId: string;
  readonly paymentId: string;
  /** `null`: the default channel. */
  readonly channelId: string | null;
}

/**
 * Reminders that members send by hand. Without a channel in the request, and without a default channel, each throws
 * NO_DEFAULT_CHANNEL.
 */
export interface Reminders {
  /** What a reminder of the line would say now. Throws NOT_FOUND for an unknown line or channel. */
  preview(asked: OfLine, plane: Pick<Plane, 'previewReminder'>): Promise<ReminderPreview>;
  /**
   * Sends a reminder now; if that fails, it is tried again later. Throws REFERENCE_INVALID, CHANNEL_DISABLED and the
   * failures of `queueReminder`. A repeated request with an idempotency key sends nothing again, and answers how the delivery stands.
   */
  remind(
    asked: OfLine & Keyed,
    plane: Pick<Plane, 'previewReminder' | 'queueReminder' | 'getDelivery'>,
  ): Promise<ReminderResult>;
  /** Reminds of all lines of a tab; what cannot be sent within a few seconds is sent later. Throws like `remind`. */
  remindAll(
    asked: Pick<OfLine, 'tenantId' | 'channelId'> &
      Keyed & { readonly tab: CollectionTab; readonly subjectId: string | null },
    plane: Pick<Plane, 'queueReminders' | 'getReminderRun'>,
  ): Promise<BulkReminderResult>;
}

interface Keyed {
  readonly keyed: KeyedRequest | undefined;
}

export type RemindersParts = Parameters<typeof renderedReminder>[2] & {
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly deliveries: Deliveries;
};

export function createReminders(parts: RemindersParts): Reminders {
  const { database, clock, deliveries } = parts;
  const scope = { tenantId: null };

  /** `undefined` if no channel has the id. */
  const channelOf = ({ tenantId, channelId }: Pick<OfLine, 'tenantId' | 'channelId'>) =>
    database.read(scope, async (tx) => {
      const channels = new ChannelStore(tx, tenantId);
      if (channelId !== null) return isId(channelId) ? channels.byId(channelId) : undefined;
      const byDefault = (await channels.all()).find(({ isDefault }) => isDefault);
      if (!byDefault) throw fail('NO_DEFAULT_CHANNEL', {});
      return byDefault;
    });

  const sendingChannel = async (asked: Pick<OfLine, 'tenantId' | 'channelId'>): Promise<ChannelRecord> => {
    const channel = await channelOf(asked);
    if (!channel) throw fail('REFERENCE_INVALID', { field: 'channelId', value: asked.channelId ?? '' });
    if (!channel.enabled) throw fail('CHANNEL_DISABLED', { channelId: channel.id });
    return channel;
  };

  const rendered = async (
    { line }: RemindableLine,
    to: { readonly tenantId: string; readonly channel: ChannelRecord },
  ): Promise<RenderedReminder> => {
    const found = await renderedReminder(line, { ...to, at: clock.now() }, parts);
    if (!found) throw fail('NOT_FOUND', {});
    return found;
  };

  /**
   * A repetition skips the checks, which may have another result by then, and answers how the delivery stands: only ids
   * are kept, because contract data is not stored in the platform database. The data plane has the key too, so that a
   * request that was interrupted sends nothing again.
   */
  const once = async <T>(keyed: KeyedRequest | undefined, work: () => Promise<T>): Promise<T> => {
    const before = await database.answered<T>(keyed);
    if (before) return before.answer;
    const answer = await work();
    return keyed ? database.write({ ...scope, keyed }, () => Promise.resolve(answer)) : answer;
  };

  return {
    preview: async ({ tenantId, contractId, paymentId, channelId }, plane) => {
      const remindable = await plane.previewReminder({ contractId, paymentId });
      const channel = await channelOf({ tenantId, channelId });
      if (!channel) throw fail('NOT_FOUND', {});
      const { subject, body, format, recipients, values } = await rendered(remindable, { tenantId, channel });
      return {
        channel: { id: channel.id, kind: kindOf(channel), name: channel.name },
        subject,
        body,
        format,
        level: remindable.level,
        recipients: [...recipients],
        variables: variablesOf(values),
        warnings: warningsOf(remindable, { channel, recipients }),
      };
    },

    remind: async ({ keyed, ...asked }, plane) => {
      const { tenantId, contractId, paymentId } = asked;
      const { deliveryId, channelId } = await once(keyed, async () => {
        const { id, kind } = await sendingChannel(asked);
        const queued = await plane.queueReminder({ contractId, paymentId, channel: { id, kind, digest: 1 } });
        await deliveries.deliver(tenantId, { id: queued.messageId, lane: id });
        return { deliveryId: queued.deliveryId, channelId: id };
      });
      const delivery = await plane.getDelivery({ deliveryId });
      const subject = async (): Promise<string | null> => {
        const channel = await channelOf({ tenantId, channelId });
        const line = await plane.previewReminder({ contractId, paymentId }).catch(unlessMissing);
        return channel && line ? (await rendered(line, { tenantId, channel })).subject : null;
      };
      return {
        deliveryId,
        status: shownStatus(delivery),
        channelId,
        renderedSubject: delivery.subject ?? (await subject()),
        sentAt: delivery.sentAt,
        error: errorOf(delivery),
      };
    },

    remindAll: async ({ keyed, tab, subjectId, ...asked }, plane) => {
      const { tenantId } = asked;
      const { runId } = await once(keyed, async () => {
        const channel = await sendingChannel(asked);
        const queued = await plane.queueReminders({ tab, subjectId, channel: manualChannel(channel) });
        await deliveries.drain(tenantId);
        return queued;
      });
      const { counts, items } = await plane.getReminderRun({ runId, limit: MOST_LISTED });
      const { sent, queued, failed, skipped } = counts;
      return {
        runId,
        matched: Object.values(counts).reduce((sum, each) => sum + each, 0),
        sent,
        queued,
        failed,
        skipped,
        results: items.map(({ id: deliveryId, paymentId, contractId, status, reason, channelId, recipients }) => ({
          deliveryId,
          paymentId,
          contractId,
          status,
          reason,
          channelId,
          recipients,
        })),
      };
    },
  };
}

/** A line that was deleted since the reminder was queued. */
const unlessMissing = (error: unknown): undefined => {
  if (!isFailure(error, 'NOT_FOUND')) throw error;
};

/** Chats get digests. */
const manualChannel = ({ id, kind }: ChannelRecord): ManualChannel => ({
  id,
  kind,
  digest: adapterOf(kind).digests ? MOST_REMINDED : 1,
});

function kindOf({ kind }: ChannelRecord) {
  const known = CHANNEL_KINDS.find((each) => each === kind);
  if (!known) throw new RangeError(`there is no kind of channel named ${kind}`);
  return known;
}

/** A reminder that was withdrawn before it was sent, because its line, channel or recipient was gone, is not sent. */
const shownStatus = ({ status }: ReminderDelivery): ReminderResult['status'] =>
  status === 'sent' || status === 'queued' ? status : 'failed';

const errorOf = ({ lastError, reason, sentAt }: ReminderDelivery): string | null =>
  sentAt === null ? (lastError ?? (reason === null ? null : `the reminder was not sent: ${reason}`)) : null;

const variablesOf = ({
  contractNo,
  projectName,
  partyA,
  partyB,
  subjectName,
  period,
  dueDate,
  amount,
  receivedAmount: received,
  outstandingAmount: outstanding,
  currencyCode: currency,
  daysOverdue,
  ownerName,
  link,
}: RenderedReminder['values']): ReminderPreview['variables'] => ({
  contractNo,
  projectName,
  partyA,
  partyB,
  subjectName,
  period,
  dueDate,
  amount,
  received,
  outstanding,
  currency,
  daysOverdue,
  ownerName,
  link,
});

const warningsOf = (
  { line: { paymentId, outstandingAmount }, hold }: RemindableLine,
  { channel, recipients }: { readonly channel: ChannelRecord; readonly recipients: readonly string[] },
): GivenWarning[] => [
  ...(outstandingAmount <= 0 ? [warn('NOTHING_OUTSTANDING', { paymentIds: [paymentId] })] : []),
  ...(hold ? [warn('LINE_HELD', { paymentIds: [paymentId] })] : []),
  ...(channel.enabled ? [] : [warn('CHANNEL_DISABLED', {})]),
  ...(recipients.length === 0 ? [warn('NO_RECIPIENT', {})] : []),
];
