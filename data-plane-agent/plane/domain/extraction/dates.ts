import { parseDay, type Day } from '../../../base/day.js';
import { readChineseNumber } from './numerals.js';

export interface ReadDay {
  readonly day: Day;
  readonly start: number;
  readonly end: number;
  /** The date with day and month exchanged, when both orders are valid (03/04/2026). */
  readonly other: Day | undefined;
}

/** Reads a date at `at` in any common notation. Dates that do not exist are not read. */
export function readDay(plain: string, at: number): ReadDay | undefined {
  return numbered(plain, at) ?? chinese(plain, at) ?? english(plain, at) ?? slashed(plain, at);
}

/** The first date that begins in the span. */
export function findDay(plain: string, from: number, to: number): ReadDay | undefined {
  for (let at = from; at < to; at++) {
    if (
      !BEGINS.test(plain[at] ?? '') ||
      /[a-z0-9]/.test(plain[at - 1] ?? '') ||
      (/\d/.test(plain[at] ?? '') && /[-/.]/.test(plain[at - 1] ?? ''))
    )
      continue;
    const day = readDay(plain, at);
    if (day && day.end <= to) return day;
  }
  return undefined;
}

const BEGINS = /[0-9a-z二一〇零]/;

/** 2026-03-01, 2026/3/1, 2026.3.1, 2026年3月1日, 20260301. */
function numbered(plain: string, at: number): ReadDay | undefined {
  const match = exec(
    /((?:19|20)\d{2}) {0,4}(?:([-/.]) {0,2}(\d{1,2}) {0,2}\2 {0,2}(\d{1,2})|年 {0,8}(\d{1,2}) {0,8}月 {0,8}(\d{1,2}) {0,8}[日号]?|(\d{2})(\d{2}))(?![\d%])/y,
    plain,
    at,
  );
  if (!match) return undefined;
  return dayOf(
    { year: match[1], month: match[3] ?? match[5] ?? match[7], day: match[4] ?? match[6] ?? match[8] },
    { start: at, end: at + match[0].length },
  );
}

/** 二〇二六年三月一日. */
function chinese(plain: string, at: number): ReadDay | undefined {
  if (!/[二一]/.test(plain[at] ?? '')) return undefined;
  const year = readChineseNumber(plain, at);
  if (!year || year.value.length !== 4 || plain[year.end] !== '年') return undefined;
  const month = readChineseNumber(plain, year.end + 1);
  if (!month || plain[month.end] !== '月') return undefined;
  const day = readChineseNumber(plain, month.end + 1);
  if (!day) return undefined;
  const end = plain[day.end] === '日' || plain[day.end] === '号' ? day.end + 1 : day.end;
  return dayOf({ year: year.value, month: month.value, day: day.value }, { start: at, end });
}

const MONTHS =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAY_FIRST = new RegExp(
  `(\\d{1,2})(?:st|nd|rd|th)?[ -]{1,2}(?:day of )?(${MONTHS})[.,]?[ -]{1,2}(\\d{4})(?!\\d)`,
  'y',
);
const MONTH_FIRST = new RegExp(`(${MONTHS})[.]? {1,2}(\\d{1,2})(?:st|nd|rd|th)?,? {1,2}(\\d{4})(?!\\d)`, 'y');

/** 1 March 2026, 1st day of March, 2026, March 1, 2026, 01-Mar-2026. */
function english(plain: string, at: number): ReadDay | undefined {
  const first = exec(DAY_FIRST, plain, at);
  if (first)
    return dayOf({ year: first[3], month: monthOf(first[2]), day: first[1] }, { start: at, end: at + first[0].length });
  const second = exec(MONTH_FIRST, plain, at);
  if (second)
    return dayOf(
      { year: second[3], month: monthOf(second[1]), day: second[2] },
      { start: at, end: at + second[0].length },
    );
  return undefined;
}

/** 15/03/2026 and 03/15/2026; 03/04/2026 is ambiguous. */
function slashed(plain: string, at: number): ReadDay | undefined {
  const match = exec(/(\d{1,2})([/.-])(\d{1,2})\2((?:19|20)\d{2})(?!\d)/y, plain, at);
  if (!match) return undefined;
  const span = { start: at, end: at + match[0].length };
  const dayFirst = dayOf({ year: match[4], month: match[3], day: match[1] }, span);
  const monthFirst = dayOf({ year: match[4], month: match[1], day: match[3] }, span);
  if (!dayFirst || !monthFirst) return dayFirst ?? monthFirst;
  // Dates with points have the European order.
  return dayFirst.day === monthFirst.day || match[2] === '.' ? dayFirst : { ...dayFirst, other: monthFirst.day };
}

const monthOf = (name = ''): string => String('janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3)) / 3 + 1);

function dayOf(
  {
    year = '',
    month = '',
    day = '',
  }: {
    readonly year?: string | undefined;
    readonly month?: string | undefined;
    readonly day?: string | undefined;
  } = {},
  { start, end }: { start: number; end: number },
): ReadDay | undefined {
  const read = parseDay(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
  return read === undefined ? undefined : { day: read, start, end, other: undefined };
}

function exec(pattern: RegExp, plain: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(plain);
}
