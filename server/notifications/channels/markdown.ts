import { cutTo, inertInMarkdown } from '../notices/inert.js';
import { safeLink, type Notice } from '../notices/notice.js';
import { noticeText } from '../notices/index.js';
import type { Line, NoticeText, Piece } from '../notices/wording.js';
import type { Rendered, Style } from './adapter.js';

/** The Markdown of one platform, and how much of it the platform accepts. */
export interface Dialect {
  /** Makes a value harmless; `inertInMarkdown` by default. */
  readonly escape?: (value: string) => string;
  bold(text: string): string;
  link(label: string, url: string): string;
  /** For platforms whose messages have no title of their own. */
  readonly heading?: (text: string) => string;
  readonly newline: string;
  readonly maxBytes: number;
  /** In the unit of `maxBytes`; by default the bytes of the body within JSON. */
  readonly sizeOf?: (body: string) => number;
}

/** The subject is without markup in every dialect: some platforms show it in a plain title, others within Markdown. */
export function markdown(notice: Notice, { language }: Style, dialect: Dialect): Rendered {
  const { text } = noticeText(notice, language);
  return {
    subject: subjectOf(text),
    body: fitted(text, dialect),
    format: 'markdown',
    urgency: text.urgency,
  };
}

const MAX_SUBJECT_BYTES = 150;

const subjectOf = ({ subject }: NoticeText): string =>
  cutTo(MAX_SUBJECT_BYTES, subject.map((piece) => (typeof piece === 'string' ? piece : piece.value)).join(''), (text) =>
    inertInMarkdown(text),
  );

/** How much of a notice is written, in bytes for each value. */
interface Extent {
  readonly valueBytes: number;
  readonly longBytes: number;
  /** Whether each line of a digest has a link. */
  readonly links: boolean;
  /** The lines of a digest. */
  readonly entries: number;
}

/**
 * The longest version that the platform accepts: values are cut first, then the links of a digest are left out, then
 * its last lines, which are counted. The totals always include all lines.
 */
function fitted(text: NoticeText, dialect: Dialect): string {
  const { sizeOf = sizeInJson, maxBytes, newline } = dialect;
  const entries = text.entries.length;
  const extents: Extent[] = [
    { valueBytes: 600, longBytes: 2_400, links: true, entries },
    { valueBytes: 240, longBytes: 1_200, links: true, entries },
    { valueBytes: 240, longBytes: 1_200, links: false, entries },
    { valueBytes: 60, longBytes: 300, links: false, entries },
    ...Array.from({ length: entries }, (_, index) => ({
      valueBytes: 60,
      longBytes: 300,
      links: false,
      entries: entries - 1 - index,
    })),
  ];
  let body = '';
  for (const extent of extents) {
    body = written(text, dialect, extent);
    if (sizeOf(body) <= maxBytes) return body;
  }
  const lines = body.split(newline);
  while (lines.length > 1 && sizeOf([...lines, '…'].join(newline)) > maxBytes) lines.pop();
  return [...lines, '…'].join(newline);
}

const sizeInJson = (body: string): number => Buffer.byteLength(JSON.stringify(body));

function written(text: NoticeText, dialect: Dialect, extent: Extent): string {
  const { escape = inertInMarkdown } = dialect;
  const { colon, dot } = text.marks;
  const piece = (each: Piece): string =>
    typeof each === 'string' ? each : cutTo(each.isLong ? extent.longBytes : extent.valueBytes, each.value, escape);
  const sentence = (line: Line): string => line.map(piece).join('');
  const shown = text.entries.slice(0, extent.entries);
  const main = text.link && safeLink(text.link.url);
  return [
    ...(dialect.heading ? [dialect.heading(subjectOf(text))] : []),
    ...text.opening.map(sentence),
    ...text.facts.map(({ label, value }) => `${dialect.bold(`${label}${colon.trimEnd()}`)} ${piece(value)}`),
    // Not a list: the title would follow its marker directly.
    ...shown.map(({ title, rest, link }, index) => {
      const url = extent.links ? safeLink(link) : null;
      return `${index + 1} – ${url === null ? piece(title) : dialect.link(piece(title), url)}${dot}${sentence(rest)}`;
    }),
    ...(shown.length < text.entries.length ? [text.more(text.entries.length - shown.length)] : []),
    ...text.totals.map((total) => dialect.bold(sentence(total))),
    ...text.closing.map(sentence),
    ...(text.link && main ? [dialect.link(text.link.label, main)] : []),
  ].join(dialect.newline);
}

/** The Markdown that Teams, Feishu, DingTalk and WeCom have in common. */
export const COMMON_MARKDOWN = {
  bold: (text: string) => `**${text}**`,
  link: (label: string, url: string) => `[${label}](${url})`,
};
