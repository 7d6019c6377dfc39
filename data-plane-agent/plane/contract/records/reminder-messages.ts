import { s, type Static } from '../../../base/schema.js';
import { DELIVERY_STEPS, SKIP_REASONS } from '../vocabulary.js';
import { MessageOutcome } from './outbox.js';

/** The maximum number of payment lines in one message. */
export const MOST_REMINDED = 20;

/** What a reminder says about a payment line; the control plane adds names. Amounts are in major units. */
export const RemindedLine = s.object({
  contractId: s.id(),
  contractNo: s.text(),
  projectName: s.text(),
  partyA: s.text(),
  partyB: s.text(),
  subjectId: s.id(),
  ownerId: s.id(),
  ownerSuperiorId: s.nullable(s.id()),
  paymentId: s.id(),
  period: s.text(),
  dueDate: s.day(),
  amount: s.number(),
  receivedAmount: s.number(),
  outstandingAmount: s.number(),
  currencyCode: s.text(),
  /** Negative before the due date. */
  daysOverdue: s.number(),
});
export type RemindedLine = Static<typeof RemindedLine>;

const withdrawn = s.list(s.object({ reminderId: s.id(), reason: s.enum(SKIP_REASONS) }), MOST_REMINDED);

/** The reminders that one message carries, as they are at present. */
export const ReminderMessage = s.object({
  reminders: s.list(
    s.object({
      id: s.id(),
      step: s.enum(DELIVERY_STEPS),
      /** The member that it is sent to instead of the owner of the contract. */
      recipientId: s.nullable(s.id()),
      line: RemindedLine,
    }),
    MOST_REMINDED,
  ),
  /** Reminders that must not be sent any more. */
  withdrawn,
});
export type ReminderMessage = Static<typeof ReminderMessage>;

/** How an attempt to deliver a message with reminders ended. */
export const ReminderOutcome = s.object({
  ...MessageOutcome.properties,
  /** Addresses, or the displayed form of a channel's URL. */
  recipients: s.list(s.text({ max: 500 }), 100),
  subject: s.nullable(s.text({ max: 1_000 })),
  /** Reminders that the message did not contain. If it contained none, `error` is `null`. */
  withdrawn,
});
export type ReminderOutcome = Static<typeof ReminderOutcome>;
