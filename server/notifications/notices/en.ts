import { composeNotices, type Words } from './compose.js';
import type { ReminderLine } from './notice.js';
import { line } from './wording.js';

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);
/** The end of a sentence. */
const due = ({ daysOverdue }: ReminderLine): string =>
  daysOverdue > 0 ? `${days(daysOverdue)} overdue` : daysOverdue === 0 ? 'due today' : `due in ${days(-daysOverdue)}`;

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const WORDS: Words = {
  marks: { colon: ': ', dot: ' · ' },
  more: (count) => `… and ${count} more`,
  openContract: 'Open the contract',
  labels: {
    amount: 'Amount',
    company: 'Company',
    contract: 'Contract',
    customer: 'Customer',
    due: 'Due',
    file: 'File',
    found: 'Found',
    note: 'Note',
    outstanding: 'Outstanding',
    owner: 'Owner',
    partyB: 'Party B',
    payment: 'Payment',
    project: 'Project',
    received: 'Received',
    time: 'Time',
  },
  dueDate: (payment) => `${payment.dueDate} (${due(payment)})`,
  tone: {
    pre_due: {
      opening: 'A payment is due soon.',
      closing: 'A short message to the customer now often prevents a delay.',
    },
    due_day: {
      opening: 'A payment is due today.',
      closing: 'Please check whether it has arrived, and record the receipt.',
    },
    overdue_1: {
      opening: 'A payment is overdue.',
      closing: 'Please ask the customer when it will be paid, and record a promise if they give a date.',
    },
    escalated: {
      opening: 'A payment is still overdue, and is now brought to the attention of the superior as well.',
      closing: 'Please agree on a date with the customer, or record why the payment is on hold.',
    },
    final: {
      opening: 'This is the last automatic reminder of a payment that has been overdue for a long time.',
      closing: 'Please decide how to proceed. No further reminder is sent automatically.',
    },
    manual: {
      opening: 'This is a reminder of an open payment.',
      closing: 'Please follow up with the customer, and record any receipt.',
    },
  },
  reminder: (payment, outstanding) => [
    ...(payment.step === 'final' ? ['Last reminder, '] : []),
    ...line`${payment.step === 'final' ? due(payment) : capitalised(due(payment))}: ${payment.contractNo}, ${outstanding} from ${payment.partyA}`,
  ],
  digest: {
    subject: (count, totals) =>
      line`${`Reminder: ${count === 1 ? '1 open payment' : `${count} open payments`}`}, ${totals.join('; ')} outstanding`,
    opening: (count) => (count === 1 ? 'This payment needs attention.' : 'These payments need attention.'),
    due: (payment) => line`due ${payment.dueDate}, ${due(payment)}`,
    total: (total) => line`Total outstanding: ${total}`,
    closing: 'Please follow up with each customer, and record receipts.',
  },
  moved: {
    subject: ({ contractNo, toStage }) => line`Contract ${contractNo} is now in ${toStage}`,
    opening: ({ actorName, fromStage, toStage }) =>
      line`${actorName} moved the contract from ${fromStage} to ${toStage}.`,
  },
  infected: {
    subject: (fileName) => line`Malware found in ${fileName}`,
    opening: 'The scanner found malware in an uploaded file. The file cannot be downloaded.',
    closing: 'Please ask the sender for a clean copy, and have the device checked from which it came.',
  },
  test: {
    subject: ({ tenantName }) => line`Test message of ${tenantName}`,
    opening: ({ channelName, tenantName }) =>
      line`This is a test of the notification channel ${channelName} of ${tenantName}.`,
    closing: 'Nothing needs to be done.',
  },
};

export const english = composeNotices(WORDS);
