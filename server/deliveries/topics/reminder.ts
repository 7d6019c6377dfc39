import type { ReminderMessage } from '../../../data-plane-agent/plane/contract/records/reminder-messages.js';
import type { SkipReason } from '../../../data-plane-agent/plane/contract/vocabulary.js';
import { recordedOutcome, type Outcome } from '../../notifications/engine.js';
import { channelById, sendThrough } from '../../notifications/through-channel.js';
import { composedReminder } from './reminder-notice.js';
import type { Topic, TopicParts, TopicPlace } from './topic.js';

/** What is left out of a message, which `settle` records. */
type Withdrawn = ReminderMessage['withdrawn'];
type ReminderOutcome = Outcome & { readonly withdrawn: Withdrawn };

/**
 * Reminders of payment lines. What was true at the decision may have changed: the lines, the channel and the members are
 * read immediately before each attempt, and what must not be sent any more is recorded as skipped.
 */
export function reminderTopic(parts: TopicParts): Topic {
  const { database, clock, sender } = parts;

  async function attempt(message: Parameters<Topic['attempt']>[0], at: TopicPlace): Promise<ReminderOutcome> {
    const { tenantId, plane } = at;
    const { reminders, withdrawn } = await plane.getReminderMessage({ messageId: message.id });
    const none = (reason: SkipReason): ReminderOutcome => ({
      delivered: true,
      withdrawn: [...withdrawn, ...reminders.map(({ id }) => ({ reminderId: id, reason }))],
    });
    const [first, ...rest] = reminders;
    if (!first) return { delivered: true, withdrawn };
    if (message.expiresAt <= clock.now())
      return { delivered: false, error: 'it could not be delivered within two days', isFinal: true, withdrawn };
    const channel = await channelById(database, { tenantId, channelId: message.lane });
    if (!channel) return none('NO_CHANNEL');
    if (!channel.enabled) return none('CHANNEL_DISABLED');
    const composed = await composedReminder([first, ...rest], { tenantId, channel, at: message.createdAt }, parts);
    if (!composed || composed.recipients?.length === 0) return none('NO_RECIPIENT');
    const { recipients, ...said } = composed;
    const sent = await sendThrough(
      { tenantId, channel, id: message.id, ...said, ...(recipients ? { recipients } : {}) },
      { database, clock, sender },
    );
    return { ...sent, withdrawn };
  }

  return {
    attempt,
    settle: async ({ id, attempts }, outcome, { plane }) => {
      const { state } = await plane.settleReminders({
        id,
        attempts,
        ...recordedOutcome(outcome),
        recipients: [...(outcome.recipients ?? [])].slice(0, 100),
        subject: outcome.subject ?? null,
        withdrawn: withdrawnIn(outcome),
      });
      return state === 'settled' ? 'delivered' : state;
    },
  };
}

/** An attempt that was rejected left nothing out. */
const withdrawnIn = (outcome: Outcome & { readonly withdrawn?: Withdrawn }): Withdrawn => outcome.withdrawn ?? [];
