import Type from 'typebox';
import { domain } from './failure-kind.js';

/** The part of the catalogue of failures that concerns reminders sent by hand. */
export const REMINDER_FAILURES = {
  LINE_HELD: domain(
    409,
    'Reminders of the payment line are on hold; `until` is the last day of the hold, `null` if it lasts until it is removed.',
    Type.Object({ paymentId: Type.String(), kind: Type.String(), until: Type.Union([Type.String(), Type.Null()]) }),
  ),
  NO_DEFAULT_CHANNEL: domain(
    409,
    'The organisation has no default notification channel: send a `channelId`, or let an administrator make a channel the default.',
    Type.Object({}),
  ),
  CHANNEL_DISABLED: domain(409, 'The notification channel is disabled.', Type.Object({ channelId: Type.String() })),
} as const;
