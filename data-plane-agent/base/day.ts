/**
 * A civil day, `YYYY-MM-DD`, years 0001 to 9999. Days compare as strings. A day is not an instant: the machine's time
 * zone never affects it, and only `todayIn` and `instantOf` convert between days and instants.
 */
export type Day = string;

/** Parses `YYYY-MM-DD`, or a full ISO timestamp, whose calendar day is used as written (no zone shift). */
export function parseDay(text: string): Day | undefined {
  const parts = dayParts(text);
  if (parts) return exists(...parts) ? text : undefined;
  const match = ISO_DAY_OR_TIMESTAMP.exec(text);
  if (match === null || !exists(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined;
  return text.slice(0, 'YYYY-MM-DD'.length);
}

/** Whether the text is a day as `parseDay` returns it. */
export const isDay = (text: string): boolean => text.length === 'YYYY-MM-DD'.length && parseDay(text) !== undefined;

/** As `parseDay`, and also the formats found in spreadsheets and CSV files: `YYYY/M/D` and `YYYY年M月D日`. */
export function parseLooseDay(text: string): Day | undefined {
  const trimmed = text.trim();
  const match = SLASHED_DAY.exec(trimmed) ?? CHINESE_DAY.exec(trimmed);
  return match === null ? parseDay(trimmed) : civilDay(match[1], match[2], match[3]);
}

/** The day of an XLSX serial (1900 system; the fraction is the time of day and is dropped). */
export function dayFromSerial(serial: number): Day | undefined {
  const whole = Math.floor(serial);
  // Serial 60 is 29 February 1900, which does not exist: a Lotus 1-2-3 bug that the format kept.
  if (!(whole >= 1) || whole === 60) return undefined;
  const number = whole + (whole < 60 ? SERIAL_EPOCH + 1 : SERIAL_EPOCH);
  return number > LAST_DAY ? undefined : dayOfNumber(number);
}

/** The day n days later (earlier when n is negative). Throws RangeError outside the years 0001 to 9999. */
export function addDays(day: Day, n: number): Day {
  return dayOfNumber(numberOfDay(day) + n);
}

/** Days from a to b: positive when b is later. */
export function daysBetween(a: Day, b: Day): number {
  return numberOfDay(b) - numberOfDay(a);
}

/**
 * The day n months after the anchor, clamped to the end of the month: 31 January, 28 February, 31 March. Compute each
 * step from the anchor, not from the previous step. Throws RangeError outside the years 0001 to 9999.
 */
export function addMonths(anchor: Day, n: number): Day {
  const [year, month, day] = partsOf(anchor);
  const months = year * 12 + (month - 1) + n;
  const targetYear = Math.floor(months / 12);
  const targetMonth = months - targetYear * 12 + 1;
  if (targetYear < 1 || targetYear > 9999) throw outOfRange();
  return format(targetYear, targetMonth, Math.min(day, daysInMonth(targetYear, targetMonth)));
}

/** Whether the name is an IANA time zone that this runtime knows. An offset such as `+08:00` is not one. */
export function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The civil day in the time zone at the instant (epoch milliseconds). */
export function todayIn(timeZone: string, instantMs: number): Day {
  const minute = Math.floor(instantMs / MINUTE_MS);
  const known = TODAYS.get(timeZone);
  if (known?.minute === minute) return known.day;
  const day = dayOfNumber(Math.floor(wallClock(timeZone, instantMs) / DAY_MS));
  if (TODAYS.size >= FORMATTERS_MAX) TODAYS.clear();
  TODAYS.set(timeZone, { minute, day });
  return day;
}

// Cached because every request needs it and formatting is slow. Days begin on whole minutes of UTC in every zone since
// 1972.
const TODAYS = new Map<string, { readonly minute: number; readonly day: Day }>();

/**
 * The instant (epoch milliseconds) at which the zone's clocks show that day and hour (0 to 23). For an hour skipped by
 * daylight saving it is the next existing hour, for a repeated one the first.
 */
export function instantOf(day: Day, hour: number, timeZone: string): number {
  if (!Number.isInteger(hour) || hour < 0 || hour > 23) throw new RangeError(`not an hour of the day: ${hour}`);
  const wanted = numberOfDay(day) * DAY_MS + hour * HOUR_MS;
  // A whole day can be skipped (Samoa, 30 December 2011).
  for (let later = 0; later <= 25; later += 1) {
    const wall = wanted + later * HOUR_MS;
    const found = [wall - DAY_MS, wall + DAY_MS]
      .map((nearby) => wall - (wallClock(timeZone, nearby) - nearby))
      .filter((instant) => wallClock(timeZone, instant) === wall);
    if (found.length > 0) return Math.min(...found);
  }
  throw new RangeError(`no such hour in ${timeZone}: ${day} ${hour}`);
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const ISO_DAY_OR_TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/i;
const SLASHED_DAY = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/;
const CHINESE_DAY = /^(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日$/;
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;
const FIRST_DAY = new Date(0).setUTCFullYear(1, 0, 1) / DAY_MS;
const LAST_DAY = Date.UTC(9999, 11, 31) / DAY_MS;
/** Days from 1 March of the year 0 to 1970-01-01. */
const EPOCH = 719_468;
const SERIAL_EPOCH = Date.UTC(1899, 11, 30) / DAY_MS;

function civilDay(yearText = '', monthText = '', dayText = ''): Day | undefined {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)];
  return exists(year, month, day) ? format(year, month, day) : undefined;
}

const exists = (year: number, month: number, day: number): boolean =>
  year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function format(year: number, month: number, day: number): Day {
  const pad = (value: number, width: number) => String(value).padStart(width, '0');
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

type Parts = readonly [year: number, month: number, day: number];

/** The parts of a text of the form `YYYY-MM-DD`, which may be no day that exists. Each line of a contract has several. */
function dayParts(text: string): Parts | undefined {
  if (text.length !== 'YYYY-MM-DD'.length || text[4] !== '-' || text[7] !== '-') return undefined;
  const parts = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)] as const;
  return Number.isNaN(parts[0] + parts[1] + parts[2]) ? undefined : parts;
}

/** The number that a part of a text is; NaN if it has anything but digits. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return NaN;
    number = 10 * number + digit;
  }
  return number;
}

function partsOf(day: Day): Parts {
  const parts = dayParts(day);
  if (!parts) throw new RangeError(`not a civil day: ${day}`);
  return parts;
}

/** Days since 1970-01-01, also of a day beyond the end of its month. Years begin in March here, so that a leap day is the last. */
function numberOfDay(day: Day): number {
  const [year, month, dayOfMonth] = partsOf(day);
  const years = month > 2 ? year : year - 1;
  const months = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return 365 * years + leapDays + Math.floor((153 * months + 2) / 5) + dayOfMonth - 1 - EPOCH;
}

function dayOfNumber(number: number): Day {
  if (!(number >= FIRST_DAY && number <= LAST_DAY)) throw outOfRange();
  const date = new Date(number * DAY_MS);
  return format(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

function outOfRange(): RangeError {
  return new RangeError('the day is outside the years 0001 to 9999');
}

/** The wall-clock time of the zone at the instant, as UTC milliseconds in whole seconds. */
function wallClock(timeZone: string, instantMs: number): number {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatterOf(timeZone).formatToParts(instantMs)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return new Date(0).setUTCFullYear(year, month - 1, day) + hour * HOUR_MS + minute * MINUTE_MS + second * 1000;
}

// Creating a formatter is a hundred times slower than using it. The cache is bounded because zones come from tenant
// settings.
const FORMATTERS = new Map<string, Intl.DateTimeFormat>();
const FORMATTERS_MAX = 128;

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATTERS.get(timeZone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const oldest = FORMATTERS.keys().next();
  if (FORMATTERS.size >= FORMATTERS_MAX && oldest.done !== true) FORMATTERS.delete(oldest.value);
  FORMATTERS.set(timeZone, formatter);
  return formatter;
}
