import { s, type Static } from '../../../base/schema.js';
import { COLLECTION_TABS, DELIVERY_STEPS, HOLD_KINDS, REMINDER_STATUSES, SKIP_REASONS } from '../vocabulary.js';
import { AGING_BUCKETS } from './analytics.js';
import { page, pageQuery, stamps } from './common.js';
import { paymentRowProperties } from './lines.js';

/** A reason not to remind of a line for a while, as a client sends it. */
export const HoldInput = s.object(
  {
    kind: s.enum(
      HOLD_KINDS,
      '`promise`: the customer has promised to pay by `until`. `dispute`: the customer disputes the receivable. `pause`: any other reason.',
    ),
    until: s.optional(
      s.day(
        'The last day without reminders; required for a `promise`. Without it, the hold lasts until it is removed.',
      ),
    ),
    note: s.optional(s.longText()),
  },
  { title: 'HoldInput' },
);
export type HoldInput = Static<typeof HoldInput>;

export const Hold = s.object(
  {
    paymentId: s.id(),
    kind: s.enum(HOLD_KINDS),
    until: s.nullable(s.day()),
    note: s.nullable(s.longText()),
    isActive: s.flag('Whether it stops reminders today: it has no `until`, or `until` is not over.'),
    createdBy: s.nullable(s.id()),
    ...stamps,
  },
  { title: 'Hold' },
);
export type Hold = Static<typeof Hold>;

/** A row of the list of collections, without the names that the control plane adds. */
export const collectionRowProperties = {
  ...paymentRowProperties,
  bucket: s.enum(AGING_BUCKETS),
  reminderLevel: s.nullable(s.enum(DELIVERY_STEPS, 'The step of the last reminder that was sent or is queued.')),
  reminderCount: s.integer({ about: 'Reminders that were sent, for the present due date.' }),
  lastRemindedAt: s.nullable(s.instant()),
  lastChannelId: s.nullable(s.id()),
  nextReminderAt: s.nullable(s.instant()),
  hold: s.nullable(Hold),
};
export const CollectionPage = page(s.object(collectionRowProperties));
export type CollectionPage = Static<typeof CollectionPage>;
export const CollectionQuery = s.object({
  tab: s.optional(
    s.enum(
      COLLECTION_TABS,
      'Which lines: `overdue` before today, `soon` from today to the end of the reminder lead days, or `all` of these.',
    ),
  ),
  ...pageQuery,
  subjectId: s.optional(s.id()),
});

/** A reminder that was decided on. */
export const ReminderDelivery = s.object(
  {
    id: s.id(),
    paymentId: s.id(),
    contractId: s.id(),
    step: s.enum(DELIVERY_STEPS),
    occurrence: s.integer({ min: 1 }),
    dueDate: s.day(),
    channelId: s.nullable(s.id()),
    kind: s.nullable(s.text()),
    recipients: s.list(s.text(), 100),
    recipientId: s.nullable(s.id()),
    status: s.enum(REMINDER_STATUSES),
    reason: s.nullable(s.enum(SKIP_REASONS)),
    attempts: s.integer(),
    lastError: s.nullable(s.text({ max: 1_000 })),
    nextAttemptAt: s.nullable(s.instant()),
    subject: s.nullable(s.text()),
    runId: s.nullable(s.id()),
    createdAt: s.instant(),
    sentAt: s.nullable(s.instant()),
  },
  { title: 'ReminderDelivery' },
);
export type ReminderDelivery = Static<typeof ReminderDelivery>;
export const ReminderDeliveryPage = page(ReminderDelivery, { title: 'ReminderDeliveryPage' });
export const ReminderDeliveryQuery = s.object({
  ...pageQuery,
  status: s.optional(s.enum(REMINDER_STATUSES)),
  paymentId: s.optional(s.id()),
  contractId: s.optional(s.id()),
  runId: s.optional(s.id('The run of automatic reminders that decided on them.')),
  from: s.optional(s.day('The first day, in the time zone of the organisation.')),
  to: s.optional(s.day('The last day, in the time zone of the organisation.')),
});
/** The maximum number of lines that one call of a sweep decides on. */
export const MOST_SWEPT = 500;

const sweepPlace = s.object({ dueDate: s.day(), id: s.id() });
export const ReminderSweepInput = s.object({
  runId: s.id(),
  /** The channel through which the reminders are sent; `null` if the organisation has no default channel. */
  channel: s.nullable(
    s.object({
      id: s.id(),
      kind: s.text({ max: 50 }),
      enabled: s.flag(),
      /** How many lines one message may have. */
      digest: s.integer({ min: 1, max: 20 }),
    }),
  ),
  after: s.nullable(sweepPlace),
  limit: s.integer({ min: 1, max: MOST_SWEPT }),
});
export type ReminderSweepInput = Static<typeof ReminderSweepInput>;
export const ReminderSweepResult = s.object({
  evaluated: s.integer(),
  decided: s.list(ReminderDelivery, 20 * MOST_SWEPT),
  /** Where the next call continues; `null` when no line is left. */
  next: s.nullable(sweepPlace),
});

export type ReminderDeliveryQuery = Static<typeof ReminderDeliveryQuery>;
export type ReminderDeliveryPage = Static<typeof ReminderDeliveryPage>;
