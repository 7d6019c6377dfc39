import { iso } from '../../../data-plane-agent/base/instants.js';
import { amountText, totalsOf } from './amounts.js';
import { isDigest, type NoticeOf, type ReminderLine, type ReminderStep } from './notice.js';
import { gravest, line, NOTHING, urgencyOf, type Line, type NoticeText, type NoticeWording } from './wording.js';

/** The wording of one language. */
export interface Words {
  readonly marks: NoticeText['marks'];
  more(count: number): string;
  readonly openContract: string;
  readonly labels: Readonly<Record<Label, string>>;
  /** The due date, and how far away it is. */
  dueDate(payment: ReminderLine): string;
  /** The tone of each step, for the member who looks after the payment. */
  readonly tone: Readonly<Record<ReminderStep, { readonly opening: string; readonly closing: string }>>;
  reminder(payment: ReminderLine, outstanding: string): Line;
  readonly digest: {
    subject(count: number, totals: readonly string[]): Line;
    opening(count: number): string;
    /** The end of an entry. */
    due(payment: ReminderLine): Line;
    total(total: string): Line;
    /** For several lines. */
    readonly closing: string;
  };
  readonly moved: {
    subject(notice: NoticeOf<'workflow.moved'>): Line;
    opening(notice: NoticeOf<'workflow.moved'>): Line;
  };
  readonly infected: { subject(fileName: string): Line; readonly opening: string; readonly closing: string };
  readonly test: {
    subject(notice: NoticeOf<'channel.test'>): Line;
    opening(notice: NoticeOf<'channel.test'>): Line;
    readonly closing: string;
  };
}

type Label =
  | 'amount'
  | 'company'
  | 'contract'
  | 'customer'
  | 'due'
  | 'file'
  | 'found'
  | 'note'
  | 'outstanding'
  | 'owner'
  | 'partyB'
  | 'payment'
  | 'project'
  | 'received'
  | 'time';

/** What each notice consists of, which is the same in all languages. */
export function composeNotices(words: Words): NoticeWording {
  const { marks, labels, tone } = words;
  const common = { ...NOTHING, marks, more: (count: number) => words.more(count) };
  const fact = (label: Label, value: string | null) =>
    value === null ? [] : [{ label: labels[label], value: { value } }];
  const linkTo = (url: string | null) => (url === null ? null : { label: words.openContract, url });

  const digest = ({ lines }: NoticeOf<'reminder'>): NoticeText => {
    const step = gravest(lines.map((each) => each.step));
    const totals = totalsOf(lines);
    return {
      ...common,
      subject: words.digest.subject(lines.length, totals),
      opening: [[words.digest.opening(lines.length)]],
      entries: lines.map((each) => ({
        title: { value: each.contractNo },
        rest: [
          ...line`${each.partyA} · ${each.period} · ${amountText(each.outstandingAmount, each.currencyCode)} · `,
          ...words.digest.due(each),
        ],
        link: each.link,
      })),
      totals: totals.map((total) => words.digest.total(total)),
      closing: [[lines.length === 1 ? tone[step].closing : words.digest.closing]],
      urgency: urgencyOf(step),
    };
  };

  return {
    reminder: (notice) => {
      const [only] = notice.lines;
      if (!only || isDigest(notice)) return digest(notice);
      const { currencyCode: currency, step } = only;
      const outstanding = amountText(only.outstandingAmount, currency);
      return {
        ...common,
        subject: words.reminder(only, outstanding),
        opening: [[tone[step].opening]],
        facts: [
          ...fact('contract', only.contractNo),
          ...fact('project', only.projectName),
          ...fact('customer', only.partyA),
          ...fact('company', only.subjectName),
          ...fact('partyB', only.partyB === only.subjectName ? null : only.partyB),
          ...fact('payment', only.period),
          ...fact('due', words.dueDate(only)),
          ...fact('amount', amountText(only.amount, currency)),
          ...fact('received', amountText(only.receivedAmount, currency)),
          ...fact('outstanding', outstanding),
          ...fact('owner', only.ownerName),
        ],
        closing: [[tone[step].closing]],
        link: linkTo(only.link),
        urgency: urgencyOf(step),
      };
    },
    'workflow.moved': (notice) => ({
      ...common,
      subject: words.moved.subject(notice),
      opening: [words.moved.opening(notice)],
      facts: [
        ...fact('contract', notice.contractNo),
        ...fact('project', notice.projectName),
        ...fact('time', iso(notice.at)),
        ...(notice.note ? [{ label: labels.note, value: { value: notice.note, isLong: true } }] : []),
      ],
      link: linkTo(notice.link),
      urgency: 'info',
    }),
    'file.infected': ({ fileName, contractNo, signature, at, link }) => ({
      ...common,
      subject: words.infected.subject(fileName),
      opening: [[words.infected.opening]],
      facts: [
        ...fact('file', fileName),
        ...fact('contract', contractNo),
        ...fact('found', signature),
        ...fact('time', iso(at)),
      ],
      closing: [[words.infected.closing]],
      link: linkTo(link),
      urgency: 'urgent',
    }),
    'channel.test': (notice) => ({
      ...common,
      subject: words.test.subject(notice),
      opening: [words.test.opening(notice)],
      facts: fact('time', iso(notice.at)),
      closing: [[words.test.closing]],
      urgency: 'info',
    }),
  };
}
