import { cutTo, inert } from '../notices/inert.js';
import { noticeText } from '../notices/index.js';
import { safeLink } from '../notices/notice.js';
import type { Line } from '../notices/wording.js';
import { page, plain } from '../templates/layout.js';
import { oneLine } from '../templates/index.js';
import { TEN_A_SECOND, type MailAdapter } from './adapter.js';

/** Through the mail server of `SMTP_URL`, in the layout of all mails: an HTML part, and the same as plain text. */
export const email: MailAdapter = {
  transport: 'mail',
  digests: false,
  pace: TEN_A_SECOND,
  render: (notice, { language: wanted, productName }) => {
    const { text, language } = noticeText(notice, wanted);
    const { colon, dot } = text.marks;
    const link = text.link && safeLink(text.link.url);
    const mail = {
      subject: cutTo(MAX_SUBJECT_BYTES, sentence(text.subject)),
      paragraphs: [
        ...text.opening.map(sentence),
        ...text.entries.map(({ title, rest }) => `${inert(title.value)}${dot}${sentence(rest)}`),
        ...text.totals.map(sentence),
      ],
      facts: text.facts.map(({ label, value }) => ({ label: `${label}${colon.trimEnd()}`, value: inert(value.value) })),
      ...(text.link && link ? { action: { label: text.link.label, link } } : {}),
      caution: text.closing.map(sentence).join(' '),
    };
    const product = oneLine(productName);
    return {
      subject: mail.subject,
      body: page(mail, { productName: product, language }),
      format: 'html',
      text: plain(mail, product),
      urgency: text.urgency,
    };
  },
};

const MAX_SUBJECT_BYTES = 300;

const sentence = (line: Line): string =>
  line.map((piece) => (typeof piece === 'string' ? piece : inert(piece.value))).join('');
