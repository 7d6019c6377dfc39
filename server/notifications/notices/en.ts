import { iso } from '../../../data-plane-agent/base/instants.js';
import { amountText, totalsOf } from './amounts.js';
import { isDigest, type NoticeOf, type ReminderLine, type ReminderStep } from './notice.js';
import { gravest, line, NOTHING, urgencyOf, type Line, type NoticeText, type NoticeWording } from './wording.js';

const marks = { colon: ': ', dot: ' · ' };
const more = (count: number): string => `… and ${count} more`;
const OPEN = 'Open the contract';

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);
/** When a payment is or was due, as the end of a sentence. */
const due = ({ daysOverdue }: ReminderLine): string =>
  daysOverdue > 0 ? `${days(daysOverdue)} overdue` : daysOverdue === 0 ? 'due today' : `due in ${days(-daysOverdue)}`;

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The tone of each step, for the member who looks after the payment. */
const TONE: Readonly<Record<ReminderStep, { readonly opening: string; readonly closing: string }>> = {
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
};

function digest({ lines }: NoticeOf<'reminder'>): NoticeText {
  const step = gravest(lines.map((each) => each.step));
  const totals = totalsOf(lines);
  const count = lines.length === 1 ? '1 open payment' : `${lines.length} open payments`;
  return {
    ...NOTHING,
    marks,
    more,
    subject: line`${`Reminder: ${count}`}, ${totals.join('; ')} outstanding`,
    opening: [[lines.length === 1 ? 'This payment needs attention.' : 'These payments need attention.']],
    entries: lines.map((each) => ({
      title: { value: each.contractNo },
      rest: [
        ...line`${each.partyA} · ${each.period} · ${amountText(each.outstandingAmount, each.currencyCode)} · `,
        ...line`due ${each.dueDate}, ${due(each)}`,
      ],
      link: each.link,
    })),
    totals: totals.map((total): Line => line`Total outstanding: ${total}`),
    closing: [[lines.length === 1 ? TONE[step].closing : 'Please follow up with each customer, and record receipts.']],
    urgency: urgencyOf(step),
  };
}

export const english: NoticeWording = {
  reminder: (notice) => {
    const [only] = notice.lines;
    if (!only || isDigest(notice)) return digest(notice);
    const { currencyCode: currency, step } = only;
    const outstanding = amountText(only.outstandingAmount, currency);
    return {
      ...NOTHING,
      marks,
      more,
      subject: [
        ...(step === 'final' ? ['Last reminder, '] : []),
        ...line`${step === 'final' ? due(only) : capitalised(due(only))}: ${only.contractNo}, ${outstanding} from ${only.partyA}`,
      ],
      opening: [[TONE[step].opening]],
      facts: [
        { label: 'Contract', value: { value: only.contractNo } },
        { label: 'Project', value: { value: only.projectName } },
        { label: 'Customer', value: { value: only.partyA } },
        { label: 'Company', value: { value: only.subjectName } },
        ...(only.partyB === only.subjectName ? [] : [{ label: 'Party B', value: { value: only.partyB } }]),
        { label: 'Payment', value: { value: only.period } },
        { label: 'Due', value: { value: `${only.dueDate} (${due(only)})` } },
        { label: 'Amount', value: { value: amountText(only.amount, currency) } },
        { label: 'Received', value: { value: amountText(only.receivedAmount, currency) } },
        { label: 'Outstanding', value: { value: outstanding } },
        ...(only.ownerName === null ? [] : [{ label: 'Owner', value: { value: only.ownerName } }]),
      ],
      closing: [[TONE[step].closing]],
      link: only.link === null ? null : { label: OPEN, url: only.link },
      urgency: urgencyOf(step),
    };
  },
  'workflow.moved': ({ contractNo, projectName, fromStage, toStage, actorName, note, at, link }) => ({
    ...NOTHING,
    marks,
    more,
    subject: line`Contract ${contractNo} is now in ${toStage}`,
    opening: [line`${actorName} moved the contract from ${fromStage} to ${toStage}.`],
    facts: [
      { label: 'Contract', value: { value: contractNo } },
      { label: 'Project', value: { value: projectName } },
      { label: 'Time', value: { value: iso(at) } },
      ...(note === null || note === '' ? [] : [{ label: 'Note', value: { value: note, isLong: true } }]),
    ],
    link: link === null ? null : { label: OPEN, url: link },
    urgency: 'info',
  }),
  'file.infected': ({ fileName, contractNo, signature, at, link }) => ({
    ...NOTHING,
    marks,
    more,
    subject: line`Malware found in ${fileName}`,
    opening: [['The scanner found malware in an uploaded file. The file cannot be downloaded.']],
    facts: [
      { label: 'File', value: { value: fileName } },
      ...(contractNo === null ? [] : [{ label: 'Contract', value: { value: contractNo } }]),
      { label: 'Found', value: { value: signature } },
      { label: 'Time', value: { value: iso(at) } },
    ],
    closing: [['Please ask the sender for a clean copy, and have the device checked from which it came.']],
    link: link === null ? null : { label: OPEN, url: link },
    urgency: 'urgent',
  }),
  'channel.test': ({ tenantName, channelName, at }) => ({
    ...NOTHING,
    marks,
    more,
    subject: line`Test message of ${tenantName}`,
    opening: [line`This is a test of the notification channel ${channelName} of ${tenantName}.`],
    facts: [{ label: 'Time', value: { value: iso(at) } }],
    closing: [['Nothing needs to be done.']],
    urgency: 'info',
  }),
};
