import type { Notice, NoticeOf, ReminderLine } from '../../server/notifications/notices/notice.js';

/** 2026-03-06T08:00:00Z. */
export const NOTICED_AT = Date.UTC(2026, 2, 6, 8);

export const reminderLine = (fields: Partial<ReminderLine> = {}): ReminderLine => ({
  contractId: '0197a000-0000-7000-8000-000000000001',
  contractNo: 'HT-2026-001',
  projectName: 'Tower crane for the north quay',
  partyA: 'Huayue Construction',
  partyB: 'Harbour Leasing',
  subjectName: 'Harbour Leasing',
  paymentId: '0197a000-0000-7000-8000-000000000002',
  period: '2026-03',
  dueDate: '2026-03-01',
  amount: 12_345.5,
  receivedAmount: 345.5,
  outstandingAmount: 12_000,
  currencyCode: 'CNY',
  daysOverdue: 5,
  step: 'escalated',
  ownerName: 'Li Wei',
  link: 'https://console.example.com/contracts/0197a000-0000-7000-8000-000000000001',
  ...fields,
});

export const reminder = (...lines: readonly Partial<ReminderLine>[]): NoticeOf<'reminder'> => ({
  type: 'reminder',
  lines: (lines.length === 0 ? [{}] : lines).map(reminderLine),
  at: NOTICED_AT,
});

/** Each kind of notice, with `text` as every text of the tenant's data. */
export const noticesOf = (text: string): readonly Notice[] => {
  const names = {
    contractNo: text,
    projectName: text,
    partyA: text,
    partyB: text,
    subjectName: text.slice(1),
    period: text,
    ownerName: text,
  };
  const link = 'https://console.example.com/contracts/1';
  return [
    reminder(names),
    reminder(names, { ...names, currencyCode: 'JPY', amount: 3, receivedAmount: 0, outstandingAmount: 3 }),
    {
      type: 'workflow.moved',
      contractId: '1',
      contractNo: text,
      projectName: text,
      fromStage: text,
      toStage: text,
      actorName: text,
      note: text,
      at: NOTICED_AT,
      link,
    },
    {
      type: 'file.infected',
      fileId: '1',
      fileName: text,
      contractId: '1',
      contractNo: text,
      signature: text,
      at: NOTICED_AT,
      link,
    },
    { type: 'channel.test', tenantName: text, channelName: text, at: NOTICED_AT },
  ];
};
