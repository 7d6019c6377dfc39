import { edit, view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import {
  BulkReminder,
  BulkReminderResult,
  ReminderInput,
  ReminderPreview,
  ReminderPreviewQuery,
  ReminderResult,
} from '../collections/reminders.schemas.js';
import { checkReferences } from './named.js';

/** The pages of a run are queued within this time. */
const BULK_MS = 60_000;

const previewReminder = endpoint('GET /collections/preview', {
  summary: 'Preview a reminder',
  description:
    'What `POST /collections/remind` would send for the line now: the same subject and the same text, in the default language of the organisation. Nothing is sent or changed. A line that is settled or on hold, and a disabled channel, can be previewed too; `warnings` then say why a reminder would be refused. A line that is not of the contract, and an unknown channel, are 404.',
  needs: view('collection'),
  query: ReminderPreviewQuery,
  returns: ReminderPreview,
  calls: ['previewReminder'],
  fails: ['NO_DEFAULT_CHANNEL'],
  run: ({ query: { contractId, paymentId, channelId }, plane, principal, services }) =>
    services.reminders.preview(
      { tenantId: principal.tenant.id, contractId, paymentId, channelId: channelId ?? null },
      plane,
    ),
});

const sendReminder = endpoint('POST /collections/remind', {
  summary: 'Send a reminder of a payment line',
  description:
    'Sends a reminder of an open line now, also before its due date, and answers 200 with what happened. `queued`: the receiver did not accept it, and it is tried again for up to two days, or the channel has to wait because it sends no more messages a minute; `GET /collections/deliveries` shows how it stands. Automatic reminders of the line are not sent on the same day. The text is that of `GET /collections/preview`, and a mail goes to the addresses of the channel or, if it has none, to the owner of the contract. A reminder that was withdrawn before it was sent, for example because the line was settled in that moment, is `failed`, and `error` says why. With an `Idempotency-Key`, a repeated request sends nothing and answers how the delivery stands.',
  needs: edit('collection'),
  body: ReminderInput,
  idempotencyKey: 'always',
  returns: ReminderResult,
  calls: ['previewReminder', 'queueReminder', 'getDelivery'],
  fails: ['NO_DEFAULT_CHANNEL', 'CHANNEL_DISABLED'],
  run: ({ body: { contractId, paymentId, channelId }, plane, principal, request, services }) =>
    services.reminders.remind(
      {
        tenantId: principal.tenant.id,
        contractId,
        paymentId,
        channelId: channelId ?? null,
        keyed: request.keyed,
      },
      plane,
    ),
});

const sendReminders = endpoint('POST /collections/remind-bulk', {
  summary: 'Send reminders of all lines of a tab',
  description:
    'Sends a reminder of each line that `GET /collections` lists for `tab` and `subjectId`, within the scope of the caller. Mail and webhooks get one message for each line, chats one for up to 20 lines. Lines on hold are `skipped` with the reason `HELD`; settled lines do not match. What is not sent within five seconds is `queued` and sent afterwards, at the pace of the channel; `GET /collections/deliveries` shows how the reminders stand, by their `runId`. A second request on the same day sends again: `lastRemindedAt` and `reminderCount` in `GET /collections` show what was sent before. With an `Idempotency-Key`, a repeated request sends nothing and answers how the reminders stand, and one that was interrupted sends only what was not queued yet. Automatic reminders of these lines are not sent on the same day.',
  needs: edit('collection'),
  body: BulkReminder,
  idempotencyKey: 'always',
  timeoutMs: BULK_MS,
  returns: BulkReminderResult,
  calls: ['queueReminders', 'getReminderRun'],
  fails: ['NO_DEFAULT_CHANNEL', 'CHANNEL_DISABLED', 'REFERENCE_INVALID'],
  run: async ({ body: { channelId, tab, subjectId }, plane, principal, request, services }) => {
    await checkReferences({ subjectId }, { principal, services });
    return services.reminders.remindAll(
      {
        tenantId: principal.tenant.id,
        channelId: channelId ?? null,
        tab: tab ?? 'overdue',
        subjectId: subjectId ?? null,
        keyed: request.keyed,
      },
      plane,
    );
  },
});

export const reminderEndpoints = { previewReminder, sendReminder, sendReminders };
