import { s } from '../../data-plane-agent/base/schema.js';
import {
  collectionRowProperties,
  CollectionQuery,
  ReminderDeliveryPage,
  ReminderDeliveryQuery,
  Hold,
  HoldInput,
} from '../../data-plane-agent/plane/contract/records/collections.js';
import { Ok, page } from '../../data-plane-agent/plane/contract/records/common.js';
import { edit, view } from '../access/permissions.js';
import { ReminderRun } from '../collections/collections.schemas.js';
import { holdBodyIssues } from '../data-planes/body-issues.js';
import { endpoint } from '../http/endpoint.js';
import { checkFilter, rowNameProperties, withRowNames } from './named.js';

/** A row with the names that the control plane adds. */
const CollectionRow = s.object({ ...collectionRowProperties, ...rowNameProperties }, { title: 'CollectionRow' });

const listCollections = endpoint('GET /collections', {
  summary: 'List payment lines to collect',
  description:
    '`overdue` lists outstanding lines due before today, `soon` those due from today to the end of the reminder lead days, `all` both; earliest due date first. `nextReminderAt` is the instant from which the next automatic reminder may be sent: the reminder hour of its day, or of the day after a hold. It is `null` when no more reminders follow, and while the line has a hold without `until`. `reminderLevel`, `reminderCount`, `lastRemindedAt` and `lastChannelId` concern reminders for the present due date; moving the due date begins them anew.',
  needs: view('collection'),
  query: CollectionQuery,
  returns: page(CollectionRow, { title: 'CollectionPage' }),
  calls: ['listCollections'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    checkFilter(query, directory);
    const found = await plane.listCollections(query);
    return { ...found, items: found.items.map((row) => withRowNames(row, directory)) };
  },
});

const setPaymentHold = endpoint('PUT /collections/:paymentId/hold', {
  summary: 'Hold a payment line',
  description:
    'Stops reminders of the line, automatic ones and those sent by hand, to the end of `until` or until the hold is removed. A line has at most one hold: another request replaces it. A promise needs `until`, which must not be before today. Reminders go on with the latest step whose day has come; steps whose day passed during the hold are not sent later. Settling the line ends the need for a hold, but does not remove it. Recorded in the history of the contract, whose version does not change.',
  needs: edit('collection'),
  body: HoldInput,
  furtherIssues: holdBodyIssues,
  returns: Hold,
  calls: ['setPaymentHold'],
  fails: [],
  run: ({ params, body, plane }) => plane.setPaymentHold({ ...params, ...body }),
});

const deletePaymentHold = endpoint('DELETE /collections/:paymentId/hold', {
  summary: 'Remove the hold of a payment line',
  description: 'Reminders go on from the next day of reminders. Succeeds also for a line without a hold.',
  needs: edit('collection'),
  returns: Ok,
  calls: ['deletePaymentHold'],
  fails: [],
  run: ({ params, plane }) => plane.deletePaymentHold(params),
});

const listDeliveries = endpoint('GET /collections/deliveries', {
  summary: 'List reminders and their results',
  description:
    'Each reminder that was sent, is queued or failed, and each one that was not sent, with the reason; the latest first. `from` and `to` include their days, in the time zone of the organisation. There is at most one delivery for a line, its due date, a step and its occurrence; reminders sent by hand have the step `manual`. Reminders of deleted contracts remain listed.',
  needs: view('collection'),
  query: ReminderDeliveryQuery,
  returns: ReminderDeliveryPage,
  calls: ['listDeliveries'],
  fails: [],
  run: ({ query, plane }) => plane.listDeliveries(query),
});

const runDueReminders = endpoint('POST /collections/run-due-reminders', {
  summary: 'Send the automatic reminders that are due',
  description:
    "Does now what the schedule does once a day at the organisation's `reminderHour`, for the contracts in the caller's scope: decides for each open line which step is due, and sends through the default channel. Each step of a line is decided once, so a repeated request, or one at the same time as the schedule, sends nothing twice. Messages that are not sent within a few seconds, because there are many or the receiver is slow, are `queued` and follow. Decided reminders that are not sent are listed with the `reason`; of a line on hold, without a channel or before its stage, the step is decided again once that has ended. `GET /collections/deliveries` with the `runId` shows all reminders of the run and how they stand later.",
  needs: edit('collection'),
  returns: ReminderRun,
  calls: ['decideReminders', 'getReminderRun'],
  fails: [],
  run: ({ principal, request, services }) => services.runReminders({ principal, request }),
});

export const collectionEndpoints = {
  listCollections,
  setPaymentHold,
  deletePaymentHold,
  listDeliveries,
  runDueReminders,
};
