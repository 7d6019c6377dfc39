import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { DeliveryStep, ReminderStatus, SkipReason } from '../contract/vocabulary.js';

/** Reminders that were decided on: what was sent, is queued, or was skipped and why. */
export const reminders = table(
  'reminders',
  {
    id: c.id('id').unaudited(),
    paymentId: c.id('payment_id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    /** The due date of the line when it was decided; a new due date begins the steps anew. */
    dueDate: c.text('due_date').unaudited(),
    step: c.word<DeliveryStep>('step'),
    occurrence: c.int('occurrence').unaudited(),
    status: c.word<ReminderStatus>('status'),
    reason: c.orNull(c.word<SkipReason>('reason')),
    /** The day of the decision in the tenant's time zone. */
    localDate: c.text('local_date').unaudited(),
    runId: c.orNull(c.id('run_id')).unaudited(),
    channelId: c.orNull(c.id('channel_id')),
    channelKind: c.orNull(c.text('channel_kind')).unaudited(),
    /** The message of the outbox that carries it. */
    messageId: c.orNull(c.id('message_id')).unaudited(),
    /** The member that it is sent to instead of the owner of the contract, after a handover. */
    recipientId: c.orNull(c.id('recipient_id')),
    /** As far as they are known: addresses, or the displayed form of a channel's URL. */
    recipients: c.orNull(c.json<string[]>('recipients')),
    subject: c.orNull(c.text('subject')).unaudited(),
    attempts: c.int('attempts').unaudited(),
    lastError: c.orNull(c.text('last_error')),
    nextAttemptAt: c.orNull(c.instant('next_attempt_at')).unaudited(),
    createdBy: c.orNull(c.id('created_by')).unaudited(),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
    sentAt: c.orNull(c.instant('sent_at')).unaudited(),
  },
  { audit: 'reminder' },
);
export type ReminderRow = RecordOf<typeof reminders>;
