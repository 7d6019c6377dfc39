import { s, type Static } from '../../../base/schema.js';
import { COLLECTION_TABS, HOLD_KINDS, REMINDER_STEPS } from '../vocabulary.js';
import { ReminderDelivery } from './collections.js';
import { MOST_REMINDED, RemindedLine } from './reminder-messages.js';

/** The channel that reminders are sent through by hand; it is enabled. */
export const ManualChannel = s.object({
  id: s.id(),
  kind: s.text({ max: 50 }),
  /** How many lines one message may have. */
  digest: s.integer({ min: 1, max: MOST_REMINDED }),
});
export type ManualChannel = Static<typeof ManualChannel>;

/** The present facts of a line that somebody may be reminded of. */
export const RemindableLine = s.object({
  line: RemindedLine,
  /** The latest automatic step whose day has come; `null` before the first. */
  level: s.nullable(s.enum(REMINDER_STEPS)),
  /** The hold that stops reminders today. */
  hold: s.nullable(s.object({ kind: s.enum(HOLD_KINDS), until: s.nullable(s.day()) })),
});
export type RemindableLine = Static<typeof RemindableLine>;

export const BulkReminderInput = s.object({
  tab: s.enum(COLLECTION_TABS),
  subjectId: s.nullable(s.id()),
  channel: ManualChannel,
});

/** The maximum number of reminders of a run that are listed. */
export const MOST_LISTED = 200;

/** How the reminders of one run stand. */
export const ReminderRun = s.object({
  counts: s.object({
    sent: s.integer(),
    queued: s.integer(),
    failed: s.integer(),
    skipped: s.integer(),
    superseded: s.integer(),
  }),
  /** The first ones. */
  items: s.list(ReminderDelivery, MOST_LISTED),
});
export type ReminderRun = Static<typeof ReminderRun>;
