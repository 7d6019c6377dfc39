import { parseDay, parseLooseDay, type Day } from '../../../base/day.js';
import { normal } from '../../../base/text.js';
import { readByEvidence, type Evidence, type Readings } from './evidence.js';

/** The order of day and month in a date that ends with the year: `31/12/2026` or `12/31/2026`. */
export type DayOrder = 'DMY' | 'MDY';
export type DayEvidence = Evidence<DayOrder>;
export const DAY_ORDERS = ['DMY', 'MDY'] as const satisfies readonly DayOrder[];

/** For each order, a date that is valid in this order only. */
export const DAY_SAMPLES = { DMY: '31/12/2026', MDY: '12/31/2026' } as const satisfies Record<DayOrder, string>;

const YEAR_FIRST = /^(\d{4})([-.])(\d{1,2})\2(\d{1,2})\.?$/;
const YEAR_LAST = /^(\d{1,2})([-./])(\d{1,2})\2(\d{4})$/;
const SHORT_YEAR = /^\d{1,2}([-./])\d{1,2}\1\d{1,2}$|^\d{2}\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日$/;
/** The time that spreadsheets append to a date without one. */
const MIDNIGHT = /\s(?:0?0:00(?::00(?:\.0{1,9})?)?|12:00(?::00)? ?AM)$/i;
const TIME = /\s\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[AP]M)?$/i;
const SLASHED_OR_CHINESE = /^\d{4}(?:\/\d{1,2}\/\d{1,2}|\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日)$/;
/** The maximum length in characters; the longest form is a timestamp with its time zone. */
const LONGEST = 100;

/**
 * The possible dates of a text, by order. A date that begins with the year has one value; `05/03/2026` may be in March
 * or in May, and `31/12/2026` is valid with the day first only.
 */
export function dayReadings(text: string): Readings<DayOrder, Day> {
  const plain = plainOf(text);
  if (plain === undefined) return {};
  const loose = parseLooseDay(plain) ?? yearFirst(plain);
  if (loose !== undefined) return { DMY: loose, MDY: loose };
  const [, first = '', , second = '', year = ''] = YEAR_LAST.exec(plain) ?? [];
  const [dayFirst, monthFirst] = [dayOf(year, second, first), dayOf(year, first, second)];
  return {
    ...(dayFirst === undefined ? {} : { DMY: dayFirst }),
    ...(monthFirst === undefined ? {} : { MDY: monthFirst }),
  };
}

/** A text without the time of midnight; `undefined` for one that is too long for a date. */
function plainOf(text: string): string | undefined {
  const plain = normal(text.trim(), { max: LONGEST, form: 'NFKC' });
  return plain.ok ? plain.text.replace(MIDNIGHT, '').trim() : undefined;
}

function yearFirst(text: string): Day | undefined {
  const [, year = '', , month = '', day = ''] = YEAR_FIRST.exec(text) ?? [];
  return dayOf(year, month, day);
}

const dayOf = (year: string, month: string, day: string): Day | undefined =>
  year === '' ? undefined : parseDay(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);

export type ReadDay = { readonly ok: true; readonly value: Day } | { readonly ok: false; readonly problem: string };

export const NO_DAY = 'must be a calendar date like 2026-03-31, 2026/3/31 or 2026年3月31日';

/** Reads a date in the style of its file. A problem is the end of a sentence that begins with the column name. */
export function readDay(text: string, evidence: DayEvidence): ReadDay {
  const read = readByEvidence(dayReadings(text), evidence);
  if (read.ok) return read;
  switch (read.why) {
    case 'unreadable':
      return { ok: false, problem: whyNoDay(text) };
    case 'contradicts':
      return { ok: false, problem: contradiction(text.trim(), read.style, evidence) };
    case 'ambiguous':
      return { ok: false, problem: ambiguity(text.trim(), read.readings, evidence) };
  }
}

function whyNoDay(text: string): string {
  const plain = plainOf(text) ?? '';
  if (SHORT_YEAR.test(plain)) return 'has a year of two digits; write all four, like 2026-03-31';
  if ([YEAR_FIRST, YEAR_LAST, SLASHED_OR_CHINESE].some((shape) => shape.test(plain)))
    return `must be a calendar date, and the day ${plain} does not exist`;
  const date = plain.replace(TIME, '');
  return date !== plain && Object.keys(dayReadings(date)).length > 0
    ? 'has a time of day; write the date alone, like 2026-03-31'
    : NO_DAY;
}

const FIRST = { DMY: 'its day first', MDY: 'its month first' } as const;

function contradiction(text: string, order: DayOrder, { seen }: DayEvidence): string {
  const other = order === 'DMY' ? 'MDY' : 'DMY';
  return `"${text}" has ${FIRST[order]}, but row ${seen[other] ?? 1} has a date with ${FIRST[other]}; write dates like 2026-03-31`;
}

function ambiguity(
  text: string,
  { DMY = '', MDY = '' }: Readings<DayOrder, Day>,
  { isMixed, isUnknown, seen }: DayEvidence,
): string {
  const why = isMixed
    ? `row ${seen.DMY ?? 1} of the file has a date with its day first and row ${seen.MDY ?? 1} one with its month first`
    : isUnknown
      ? 'the file from which the row was refused did not decide which is first, the day or the month'
      : 'no date of the file has a day above 12';
  return `"${text}" may be ${DMY} or ${MDY}: ${why}; write ${DMY} or ${MDY}`;
}
