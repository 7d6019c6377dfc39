import { addDays, addMonths, type Day } from '../../../base/day.js';
import type { Readings } from './candidates.js';
import { findDay, readDay, type ReadDay } from './dates.js';
import type { Document, Span } from './document.js';
import { readChineseNumber, readEnglishNumber } from './numerals.js';
import { oneOf, raw } from './words/one-of.js';

const BETWEEN = new RegExp(
  raw`^[ \t]{0,4}(?:[(][^)]{0,12}[)])?[ \t,]{0,4}(?:起|开始)?[ \t,(]{0,3}(?:${oneOf(
    '至',
    '到',
    '-{1,2}',
    '~',
    'to',
    'until',
    'till',
    'through',
    'and (?:ending|expiring|terminating|ends|expires|shall (?:end|expire|terminate)|ending)(?: on)?',
    'up to',
    'ending',
    'expiring(?: on)?',
  )})[ \t]{0,3}(?:and including )?$`,
);
const FROM =
  /(?:自|从|由|from(?: and including)?|commenc\w{0,4}|beginning|begins|begin|start\w{0,3}|effective|starting)[ \t]{0,3}(?:on|from|as of|date)?(?: and including)?[ \t,:]{0,3}$/;
const UNTIL =
  /(?:至|到|截止|until|till|through|expir\w{0,4}|end\w{0,3}|terminat\w{0,4}|to)[ \t]{0,3}(?:on)?[ \t,:]{0,3}$/;

/** Reads a period: `自2026年3月1日起至2029年2月28日止`, `from 1 March 2026 to 28 February 2029`. */
export function readSpan(
  document: Document,
  {
    span: { start, end },
    confidence,
    readings,
  }: { readonly span: Span; readonly confidence: number; readonly readings: Readings },
): void {
  const { plain } = document;
  const period = periodIn(document, { start, end });
  if (period) {
    addDay('startDate', { day: period.first, confidence, readings });
    addDay('endDate', { day: period.second, confidence, readings });
    return;
  }
  const first = findDay(plain, start, end);
  if (!first) return;
  const after = durationAround(plain, { day: first, start, end });
  if (after) {
    addDay('startDate', { day: first, confidence: confidence * 0.95, readings });
    const last = first.other ? undefined : lastDayOf(first.day, after);
    if (last !== undefined)
      readings.add('endDate', {
        value: last,
        start: after.start,
        end: after.end,
        confidence: confidence * 0.85,
        doubts: ['FROM_TERM'],
      });
    return;
  }
  const lead = plain.slice(Math.max(start, first.start - 24), first.start);
  const tail = plain.slice(first.end, first.end + 12);
  if (FROM.test(lead) || /^[ \t]{0,2}(?:起|开始)/.test(tail))
    addDay('startDate', { day: first, confidence: confidence * 0.95, readings });
  else if (UNTIL.test(lead) || /^[ \t]{0,2}(?:止|届满|到期)/.test(tail))
    addDay('endDate', { day: first, confidence: confidence * 0.95, readings });
}

/** The two dates of a period: `1 April 2026 - 31 March 2027`. */
export function periodIn(
  { plain }: Document,
  { start, end }: Span,
): { readonly first: ReadDay; readonly second: ReadDay } | undefined {
  const first = findDay(plain, start, end);
  if (!first) return undefined;
  // After a hyphen without blanks only a complete date is the second one.
  const hyphen = /^ ?[-~] ?/.exec(plain.slice(first.end, first.end + 3))?.[0].length;
  const joined = hyphen === undefined ? undefined : readDay(plain, first.end + hyphen);
  const second = joined && joined.end <= end ? joined : findDay(plain, first.end, end);
  return second &&
    (BETWEEN.test(plain.slice(first.end, second.start)) ||
      (second.start - first.end < 48 && UNTIL.test(plain.slice(Math.max(first.end, second.start - 24), second.start))))
    ? { first, second }
    : undefined;
}

/** A duration in months, or in days. */
interface Duration extends Span {
  readonly months: number;
  readonly days: number;
}

const MONTHS_OF: Readonly<Record<string, number>> = { month: 1, months: 1, year: 12, years: 12, 个月: 1, 年: 12 };
const DAYS_OF: Readonly<Record<string, number>> = { day: 1, days: 1, week: 7, weeks: 7, 天: 1, 日: 1 };
const LENGTH = raw`(?:[a-z-]{3,12} \()?(\d{1,4}|${oneOf('one', 'two', 'three', 'four', 'five', 'six', 'nine', 'ten', 'twelve')}|[一二两三四五六七八九十]{1,3})\)? ?(?:full |calendar |consecutive )?(months?|years?|weeks?|days?|个月|年|天|日)(?![a-z])`;
const LENGTH_BEFORE = new RegExp(
  raw`(?<![\w.])${LENGTH},? (?:period )?(?:(?:starting|commencing|beginning|running|effective|with effect)(?: on| from| as of)?|from)(?: and including)? (?:the )?$`,
);
const LENGTH_AFTER = new RegExp(
  raw`^ ?(?:起|开始)?(?:计算|算)?[,;(]? ?(?:${oneOf('for(?: a (?:period|term) of)?', '共计?', '为期', '租期为?', '期限为?')})? ?${LENGTH}`,
);

/** The duration next to the first day: `for 12 months starting 1 April 2026`, `自2026年4月1日起12个月`. */
function durationAround(plain: string, { day, start, end }: Span & { readonly day: ReadDay }): Duration | undefined {
  const leadAt = Math.max(start, day.start - 80);
  const before = LENGTH_BEFORE.exec(plain.slice(leadAt, day.start));
  if (before) return durationOf(before, leadAt);
  const isStart = FROM.test(plain.slice(Math.max(0, day.start - 24), day.start)) || plain[day.end] === '起';
  const after = isStart ? LENGTH_AFTER.exec(plain.slice(day.end, Math.min(end, day.end + 60))) : null;
  return after ? durationOf(after, day.end) : undefined;
}

function durationOf(match: RegExpExecArray, from: number): Duration | undefined {
  const [all, number = '', unit = ''] = match;
  const count = /\d/.test(number)
    ? Number(number)
    : Number((readEnglishNumber(number, 0) ?? readChineseNumber(number, 0))?.value);
  const at = from + match.index + all.lastIndexOf(number, all.lastIndexOf(unit) - 1);
  const [months, days] = [(MONTHS_OF[unit] ?? 0) * count, (DAYS_OF[unit] ?? 0) * count];
  return months + days >= 1 && months <= MAX_MONTHS
    ? { months, days, start: at, end: from + match.index + all.lastIndexOf(unit) + unit.length }
    : undefined;
}

/** A hundred years; longer durations were misread. */
const MAX_MONTHS = 1_200;

const lastDayOf = (first: Day, { months, days }: Duration): Day =>
  addDays(months > 0 ? addMonths(first, months) : addDays(first, days), -1);

/** Other things with a period: warranties, insurances, offers. */
const OF_OTHERS =
  /warrant|guarantee|insur|quotation|offer|option|licen[cs]e|letter of credit|质保|保修|保证期|保险|免租|宽限/;

const MAX_TRIGGERS = 400;
const TRIGGERS = new RegExp(
  oneOf(
    raw`(?:made|entered into|executed|signed|dated|concluded|effective)(?: and entered into)?(?:${oneOf(
      ' on',
      ' as of',
      ' as at',
      ' this',
      ' the',
      ' effective',
      ' by and between',
      ',',
      ' in duplicate',
    )})* ?(?=[\dj-sfa])`,
    raw`(?:lease|agreement|contract|term|period|it)(?: term| period)?(?: of (?:the|this) (?:lease|agreement|contract))? (?:shall |will )?(?:${oneOf(
      'commence',
      'begin',
      'start',
      'run',
      'be effective',
      'is effective',
      'takes effect',
      'come into (?:force|effect)',
    )})s?(?: on| from| as of)?`,
    '(?:valid|in force)(?: and binding)? from',
    raw`(?:leased?|rented|hired|let|rent|hire|leases) (?:[^.;\n\d]{0,60} )?for (?:a (?:period|term) of )?(?:[a-z-]{3,12} \()?(?:\d{1,3}|[a-z]{3,6})\)? (?:months?|years?|weeks?|days?),? (?:starting|commencing|beginning|from|with effect from)(?: on| from)?`,
    '(?:shall |will )?(?:expire|terminate|end|conclude)s?(?: on)',
    '(?:本合同|本协议|合同|协议|双方)?于 ?(?=[12二〇一])',
    '自 ?(?=[12二一])',
    '有效期至',
    '截至',
    '止于',
  ),
  'g',
);

/** Reads dates in running text: the date of signature, and the start and end of the contract. */
export function readRunningDays(document: Document, readings: Readings): void {
  const { plain } = document;
  readSignedDays(document, readings);
  TRIGGERS.lastIndex = 0;
  for (let n = 0; n < MAX_TRIGGERS; n++) {
    const trigger = TRIGGERS.exec(plain);
    if (!trigger) return;
    const at = trigger.index + trigger[0].length;
    const day = findDay(plain, at, Math.min(plain.length, at + 40));
    if (
      !day ||
      day.start - at > 8 ||
      OF_OTHERS.test(
        plain
          .slice(Math.max(0, trigger.index - 60), at)
          .split(/[.。;\n]/)
          .at(-1) ?? '',
      )
    )
      continue;
    const tail = plain.slice(day.end, day.end + 60);
    const word = trigger[0];
    if (word.startsWith('自'))
      readSpan(document, {
        span: { start: trigger.index, end: Math.min(plain.length, day.end + 40) },
        confidence: isOfContract(plain, trigger.index) ? 0.86 : 0.62,
        readings,
      });
    else if (/^(?:made|entered|executed|signed|dated|concluded|effective)/.test(word))
      addDay(
        /effective/.test(word) && !/made (?:and|on|as|this)|entered|signed/.test(word) ? 'startDate' : 'signDate',
        { day, confidence: trigger.index < 3_000 ? 0.9 : 0.7, readings },
      );
    else if (/于 ?$/.test(word)) {
      if (/^[^。\n]{0,40}?(?:签订|签署|订立|签约)/.test(tail)) addDay('signDate', { day, confidence: 0.88, readings });
    } else if (/有效期至|截至|止于/.test(word) || /(?:expire|terminate|end|conclude)s?(?: on)$/.test(word))
      addDay('endDate', { day, confidence: 0.84, readings });
    else {
      addDay('startDate', { day, confidence: 0.86, readings });
      readSpan(document, {
        span: { start: trigger.index, end: Math.min(plain.length, day.end + 80) },
        confidence: 0.86,
        readings,
      });
    }
  }
}

/** Reads lines that contain only dates, below the signatures: `2026年6月28日 2026年6月28日`. */
function readSignedDays(document: Document, readings: Readings): void {
  const { plain, lines } = document;
  let signed = -MAX_LINES_APART;
  for (const [i, { start, end }] of lines.entries()) {
    if (end - start > 200) continue;
    const text = plain.slice(start, end);
    if (/盖章|公章|签章|签字|signature|seal/.test(text)) signed = i;
    if (i - signed > MAX_LINES_APART || /[^\d年月日\s./〇一二三四五六七八九十-]/.test(text)) continue;
    const day = findDay(plain, start, end);
    const second = day && findDay(plain, day.end, end);
    if (day && (!second || second.day === day.day)) addDay('signDate', { day, confidence: 0.8, readings });
  }
}

/** The largest number of lines between a signature and its date. */
const MAX_LINES_APART = 8;

/** Whether the period is stated to be that of the contract, which raises the confidence. */
const isOfContract = (plain: string, at: number): boolean =>
  /租赁|租期|合同|协议|有效|履行|服务|期限/.test(plain.slice(Math.max(0, at - 24), at));

function addDay(
  key: string,
  {
    day: { day, start, end, other },
    confidence,
    readings,
  }: { readonly day: ReadDay; readonly confidence: number; readonly readings: Readings },
): void {
  readings.add(key, {
    value: day,
    start,
    end,
    confidence: confidence * (other ? 0.5 : 1),
    doubts: other ? ['DAY_OR_MONTH_FIRST'] : [],
  });
}
