import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { PARTY_A, PARTY_B, warnings } from '../../data-plane-agent/plane/contract/records/common.js';
import { ReminderDelivery } from '../../data-plane-agent/plane/contract/records/collections.js';
import { MOST_LISTED } from '../../data-plane-agent/plane/contract/records/manual-reminders.js';
import { COLLECTION_TABS, REMINDER_STEPS } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { CHANNEL_KINDS } from '../notifications/channels/index.js';

const channelId = s.optional(s.id('The notification channel; by default the default channel of the organisation.'));

export const ReminderPreviewQuery = s.object({ contractId: s.id(), paymentId: s.id(), channelId });

export const ReminderPreview = s.object(
  {
    channel: s.object({ id: s.id(), kind: s.enum(CHANNEL_KINDS), name: s.text() }, { title: 'ReminderChannel' }),
    subject: s.text({ max: 1_000 }),
    body: s.verbatim({
      max: 100_000,
      about:
        'The text that is sent, byte for byte: of a mail its HTML part, of a webhook the body of the request, of a chat the text of the message, which some platforms divide into several blocks at line ends.',
    }),
    format: s.enum(['text', 'markdown', 'html']),
    level: s.nullable(
      s.enum(REMINDER_STEPS, 'The latest automatic step whose day has come for the line; `null` before the first.'),
    ),
    recipients: s.list(s.text(), 100, 'The addresses, or the displayed form of the URL of the channel.'),
    variables: s.object(
      {
        contractNo: s.text(),
        projectName: s.text(),
        partyA: s.text({ about: PARTY_A }),
        partyB: s.text({ about: PARTY_B }),
        subjectName: s.text(),
        period: s.text(),
        dueDate: s.day(),
        amount: s.amount(),
        received: s.amount('The amount received so far, in major units.'),
        outstanding: s.signedAmount('What is still to be paid, in major units.'),
        currency: s.currency(),
        daysOverdue: s.number({ about: 'Days since the due date; negative before it.' }),
        ownerName: s.nullable(s.text()),
        link: s.nullable(s.text({ max: 3_000, about: 'The link to the contract; `null` without `CONTRACT_LINK`.' })),
      },
      { title: 'ReminderVariables', about: 'The values that the text contains.' },
    ),
    warnings,
  },
  { title: 'ReminderPreview' },
);
export type ReminderPreview = Static<typeof ReminderPreview>;

export const ReminderInput = s.object({ contractId: s.id(), paymentId: s.id(), channelId }, { title: 'ReminderInput' });

export const ReminderResult = s.object(
  {
    deliveryId: s.id(),
    status: s.enum(
      ['sent', 'queued', 'failed'],
      '`sent`: the receiver accepted it. `queued`: an attempt is still to be made, or to be repeated. `failed`: no further attempt is made.',
    ),
    channelId: s.id(),
    renderedSubject: s.nullable(s.text({ max: 1_000 })),
    sentAt: s.nullable(s.instant()),
    error: s.nullable(s.text({ max: 1_000, about: 'Why the last attempt failed; `null` if none failed.' })),
  },
  { title: 'ReminderResult' },
);
export type ReminderResult = Static<typeof ReminderResult>;

export const BulkReminder = s.object(
  {
    channelId,
    tab: s.optional(s.enum(COLLECTION_TABS, 'As in `GET /collections`; by default `overdue`.')),
    subjectId: s.optional(s.id('Only lines of contracts of this subject company.')),
  },
  { title: 'BulkReminder' },
);

const count = (about: string) => s.integer({ about });
const {
  id: deliveryId,
  paymentId,
  contractId,
  channelId: through,
  status,
  reason,
  recipients,
} = ReminderDelivery.properties;
export const BulkReminderResult = s.object(
  {
    runId: s.id('The `runId` of the deliveries.'),
    matched: count('The number of lines that matched, including those on hold.'),
    sent: count('Reminders that were sent within the request.'),
    queued: count('Reminders that are sent after it, or tried again.'),
    failed: count('Reminders for which no further attempt is made.'),
    skipped: count('Lines that were not reminded of, such as those on hold.'),
    results: s.list(
      s.object(
        { deliveryId, paymentId, contractId, status, reason, channelId: through, recipients },
        { title: 'BulkReminderLine' },
      ),
      MOST_LISTED,
      `The first ${MOST_LISTED}. All are in \`GET /collections/deliveries\`.`,
    ),
  },
  { title: 'BulkReminderResult' },
);
export type BulkReminderResult = Static<typeof BulkReminderResult>;
