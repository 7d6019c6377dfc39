import { asName } from '../../../base/names.js';
import { normalCut } from '../../../base/text.js';
import { withPercents } from './percents.js';

/** A range of the document in UTF-16 units of the sent text; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * A text to read. `plain` is a normalized form with the same length as `text`, so that positions are equal in both:
 * full-width characters become half-width, Latin letters lower case, traditional characters common in labels simplified,
 * and percentages in Chinese words digits. Pages are separated by form feeds.
 */
export interface Document {
  readonly text: string;
  readonly plain: string;
  /** The start of each line, followed by the end of the text. */
  readonly lineStarts: readonly number[];
  readonly pageStarts: readonly number[];
  /** The lines that are not blank, without line breaks, up to `MAX_LINES`. */
  readonly lines: readonly Line[];
  /** Whether the text contains Chinese characters; `元` and `¥` are then Chinese currency. */
  readonly isChinese: boolean;
}

/** A line with its number, from 0. */
export interface Line extends Span {
  readonly number: number;
}

const MAX_LINES = 20_000;

export function documentOf(text: string): Document {
  const plain = withPercents(plainOf(text));
  const lineStarts = [0];
  const pageStarts = [0];
  let chinese = 0;
  let isEmpty = true;
  const lines: Line[] = [];
  const endLine = (end: number) => {
    if (!isEmpty && lines.length < MAX_LINES)
      lines.push({ start: lineStarts.at(-1) ?? 0, end, number: lineStarts.length - 1 });
    isEmpty = true;
  };
  for (let i = 0; i < plain.length; i++) {
    const unit = plain.charCodeAt(i);
    if (unit === 10) {
      endLine(i);
      lineStarts.push(i + 1);
    } else if (unit > 32) {
      isEmpty = false;
      if (unit >= 0x4e00 && unit <= 0x9fff) chinese += 1;
    }
    if (text.charCodeAt(i) === 12) pageStarts.push(i + 1);
  }
  endLine(plain.length);
  lineStarts.push(plain.length + 1);
  return { text, plain, lineStarts, pageStarts, lines, isChinese: chinese >= 2 };
}

/** The number of the line that contains the position, from 0. */
export const lineAt = ({ lineStarts }: Document, at: number): number => lastAtMost(lineStarts, at);

/** The number of the page that contains the position, from 1. */
export const pageAt = ({ pageStarts }: Document, at: number): number => lastAtMost(pageStarts, at) + 1;

/** The span of a line without its line break. */
export const lineSpan = ({ lineStarts }: Document, line: number): Span => ({
  start: lineStarts[line] ?? 0,
  end: (lineStarts[line + 1] ?? 1) - 1,
});

/** The text of a span as one clean line of at most `max` characters. */
export const rawText = ({ text }: Document, { start, end }: Span, max = 500): string => {
  const clean = normalCut(
    text
      .slice(start, Math.min(end, start + max * 2))
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex -- what a record must not keep: controls become blanks
      .replace(/[\u0000-\u001f\u007f\s]+/g, ' '),
    { max: max * 2 },
  ).trim();
  return [...asName(clean)].slice(0, max).join('');
};

/** The text of a span with its line breaks. */
export const rawLines = ({ text }: Document, { start, end }: Span, max: number): string => {
  const clean = normalCut(
    text
      .slice(start, Math.min(end, start + max * 2))
      .toWellFormed()
      .replace(/\r\n?|\f/g, '\n')
      // oxlint-disable-next-line no-control-regex -- what a record must not keep: controls become blanks
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ')
      .replace(/[ \t\u3000]{2,}/g, ' '),
    { max: max * 2 },
  ).trim();
  return [...clean].slice(0, max).join('');
};

/** The span without blanks and underscores at both ends. */
export function trimmed({ plain }: Pick<Document, 'plain'>, { start, end }: Span): Span {
  let from = start;
  let to = end;
  while (from < to && isFiller(plain.charCodeAt(from))) from += 1;
  while (to > from && isFiller(plain.charCodeAt(to - 1))) to -= 1;
  return { start: from, end: to };
}

const isFiller = (unit: number): boolean => unit <= 32 || unit === 0x5f;

export const isCjk = (unit: number): boolean => (unit >= 0x3400 && unit <= 0x9fff) || unit === 0x3007;
export const isLatin = (unit: number): boolean => unit >= 97 && unit <= 122;
export const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
export const isBlank = (unit: number): boolean => unit === 32 || unit === 9;

function lastAtMost(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function plainOf(text: string): string {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = PLAIN[text.charCodeAt(i)] ?? 0;
  return Buffer.from(units.buffer).toString('utf16le');
}

const PLAIN = plainTable();

function plainTable(): Uint16Array {
  const table = Uint16Array.from({ length: 65_536 }, (_, unit) => unit);
  const set = (from: string, to: string) => {
    for (let i = 0; i < from.length; i++) table[from.charCodeAt(i)] = to.charCodeAt(Math.min(i, to.length - 1));
  };
  for (let unit = 0; unit < 32; unit++) table[unit] = unit === 9 ? 9 : 32;
  set('\n\r\f\v\u0085\u2028\u2029', '\n');
  for (let unit = 0xff01; unit <= 0xff5e; unit++) table[unit] = unit - 0xfee0;
  for (let unit = 0x2000; unit <= 0x200b; unit++) table[unit] = 32;
  set('\u007f\u00a0\u202f\u205f\u3000\u2060\ufeff', ' ');
  set('“”„‟«»「」『』＂', '"');
  set('‘’‚′`', "'");
  set('‐‑‒–—―−─━﹣', '-');
  set('︰﹕∶', ':');
  set('【〔［', '[');
  set('】〕］', ']');
  set('￥', '¥');
  set('○〇', '〇');
  set('│┃丨¦', '|');
  set('。．', '。.');
  set('～〜', '~');
  set('＿', '_');
  // Traditional characters used in labels, numerals and dates, and a common variant.
  set('帐', '账');
  set(
    '約號編幣帳賬戶銀開戶總價額數單稱規設備產貨賣買賃貸貳參陸萬億圓簽訂時間標質檔項種類開電話傳間應為與雙費車輛臺臺稅繳納運輸調試驗證應週結結給憑據廠壹條',
    '约号编币账账户银开户总价额数单称规设备产货卖买赁贷贰叁陆万亿圆签订时间标质档项种类开电话传间应为与双费车辆台台税缴纳运输调试验证应周结结给凭据厂壹条',
  );
  for (let unit = 65; unit <= 90; unit++) table[unit] = unit + 32;
  for (let unit = 0xff21; unit <= 0xff3a; unit++) table[unit] = unit - 0xfee0 + 32;
  return table;
}
