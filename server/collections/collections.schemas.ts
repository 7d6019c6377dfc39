import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { ReminderDelivery } from '../../data-plane-agent/plane/contract/records/collections.js';
import { MOST_LISTED } from '../../data-plane-agent/plane/contract/records/manual-reminders.js';

const {
  id: deliveryId,
  paymentId,
  contractId,
  step,
  occurrence,
  status,
  reason,
  channelId,
  recipients,
} = ReminderDelivery.properties;

/** The answer of a run of automatic reminders. */
export const ReminderRun = s.object(
  {
    runId: s.id('The `runId` of the deliveries.'),
    localDate: s.day('The day of the run, in the time zone of the organisation.'),
    evaluated: s.integer({ about: 'The number of open payment lines that were looked at.' }),
    sent: s.integer({ about: 'Reminders that were sent within the request.' }),
    queued: s.integer({ about: 'Reminders that are sent after it, or tried again.' }),
    skipped: s.integer({ about: 'Reminders that are not sent, each with its `reason`.' }),
    superseded: s.integer({ about: 'Earlier steps that were missed, in place of which the newest one is sent.' }),
    failed: s.integer({ about: 'Reminders for which no further attempt is made.' }),
    results: s.list(
      s.object(
        { deliveryId, paymentId, contractId, step, occurrence, status, reason, channelId, recipients },
        { title: 'ReminderRunLine' },
      ),
      MOST_LISTED,
      `The first ${MOST_LISTED} that the run decided on. All are in \`GET /collections/deliveries\`.`,
    ),
  },
  { title: 'ReminderRun' },
);
export type ReminderRun = Static<typeof ReminderRun>;
