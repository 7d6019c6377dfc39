import { findAmounts } from './amounts.js';
import { findDay } from './dates.js';
import { rawText, type Span } from './document.js';
import { MEANS_ENGLISH } from './means.js';
import type { Labelled } from './values.js';
import { MILESTONE, PAYS, PENALTY, STAGES } from './words/payments.js';

/** One payment as stated in the document. A share becomes an amount once the total is known. */
export interface ReadPayment {
  readonly period: Span & { readonly value: string };
  readonly due: (Span & { readonly value: string }) | undefined;
  readonly amount: (Span & { readonly value: string }) | undefined;
  /** A fraction (`one third`) and a remainder have `parts`, in units of 1 / `WHOLE`. */
  readonly share: (Span & { readonly percent: string; readonly parts?: number }) | undefined;
  readonly confidence: number;
}

/** `isDated`: the condition names no event, only a date or a number of days. */
export interface BareStage {
  readonly payment: ReadPayment;
  readonly isDated: boolean;
}

/** Cumulative shares and bounds, which are not shares of a single payment. */
export const UP_TO =
  /付至|支付到|支付至|付到|累计|不宜?超过|不高于|不低于|不少于|至少|最多|up to|cumulative|not (?:to )?exceed|no more than|at (?:least|most)/;
const SHARE =
  /(?:合同|总价|货款|价款|金额|租金|total|contract|price|value|amount|付|款|pay|of |\( ?|:|^|\s)[^%\n]{0,24}?(\d{1,3}(?:\.\d{1,2})?) {0,2}(?:%|per ?cent)/;

/** Parts per hundredth of a percent: so many that halves to twelfths are whole numbers of parts. */
const PARTS = 2_772;
/** 100 %. */
export const WHOLE = 10_000 * PARTS;
export const partsIn = (share: ReadPayment['share']): number =>
  share?.parts ?? Math.round(Number(share?.percent ?? '0') * 100) * PARTS;

export const isPenalty = (text: string): boolean => PENALTY.test(text);

export function shareIn(document: Labelled, { start, end }: Span): ReadPayment['share'] | undefined {
  const text = document.plain.slice(start, Math.min(end, start + 600));
  const match = UP_TO.test(text) ? null : SHARE.exec(text);
  const percent = match?.[1];
  if (!match || percent === undefined || Number(percent) > 100 || Number(percent) === 0) return undefined;
  const at = start + match.index + match[0].lastIndexOf(percent, match[0].length - 1);
  return { percent, start: at, end: start + match.index + match[0].length };
}

/** A percentage that is not a tax rate. */
const MARK =
  /(?<![\d.]|(?:税率|税点|vat|gst|tax)[^\d%,;]{0,10})(\d{1,3}(?:\.\d{1,2})?) {0,2}(?:%|per ?cent)(?! ?的?(?:增值税|税|vat|gst|tax|discount))/;
const MARKS = new RegExp(MARK, 'g');
const MAX_PARTS = 24;
/** The largest length of a clause with several parts. */
export const LONGEST = 1_200;

/** The percentages of a clause, with their numbers. */
export const percentsIn = ({ plain }: Labelled, { start, end }: Span): (Span & { readonly percent: string })[] =>
  [...plain.slice(start, Math.min(end, start + LONGEST)).matchAll(MARKS)]
    .slice(0, MAX_PARTS)
    .map(({ index, 0: said, 1: percent = '' }) => ({
      percent,
      start: start + index,
      end: start + index + said.length,
    }));

/** Splits a clause into parts with one share each: `30% upon signing, 70% upon delivery`, `合同签订后支付30%，货到后支付70%`. */
export function partsOf(
  document: Labelled,
  clause: Span,
  marks: readonly Span[] = percentsIn(document, clause),
): Span[] {
  const text = document.plain.slice(clause.start, Math.min(clause.end, clause.start + LONGEST));
  const spans = marks.map(({ start, end }) => ({ start: start - clause.start, end: end - clause.start }));
  const [first] = spans;
  if (!first || spans.length < 2) return [clause];
  // The share is either before or after its condition throughout.
  const isLast = SAYS_WHEN.test(text.slice(leadFrom(text, first.start), first.start));
  const cuts: number[] = [];
  for (const [i, { end }] of spans.entries()) {
    const next = spans[i + 1];
    if (!next) break;
    const gaps = gapsIn(text, end, next.start);
    const cut = gaps.find((gap) => text[gap - 1] === ';') ?? (isLast ? gaps[0] : gaps.at(-1));
    if (cut !== undefined) cuts.push(clause.start + cut);
  }
  const starts = [clause.start, ...cuts];
  return starts.map((start, i) => ({ start, end: starts[i + 1] ?? clause.end }));
}

/**
 * A label before the first share is not part of the plan (`Terms of payment: 30% …`), unless it is the condition of the
 * share (`Upon delivery: 70%`).
 */
function leadFrom(text: string, until: number): number {
  const edge = lastEdge(text, until);
  if (text.slice(edge, until).trim() !== '' || edge === 0) return edge;
  const before = lastEdge(text, edge - 2);
  const label = text
    .slice(before, edge - 1)
    .replace(OPENS, '')
    .trimEnd();
  return ENGLISH_WHEN.test(label) || /(?:后|前|时|内|满)$/.test(label) ? before : edge;
}

/** The position after the last colon or cell edge at or before `at`; 0 when there is none. */
const lastEdge = (text: string, at: number): number =>
  at < 0 ? 0 : Math.max(text.lastIndexOf(':', at), text.lastIndexOf('\t', at), text.lastIndexOf('|', at)) + 1;

const SAYS_WHEN =
  /后|前|内|时|日|满|到|毕|完|款|金|预付|首付|(?:^|[^a-z])(?:(?:up)?on|after|within|before|prior to|at|against|following|deposit|advance|down ?payment|balance|retention|final)(?![a-z])/;

/** Positions where a part may begin: after commas and before conjunctions, but not within brackets or numbers. */
function gapsIn(text: string, from: number, to: number): number[] {
  const gaps: number[] = [];
  let depth = 0;
  for (let at = from; at < to; at++) {
    const sign = text[at] ?? '';
    if (sign === '(') depth += 1;
    if (sign === ')') depth = Math.max(0, depth - 1);
    if (depth > 0) continue;
    if (/[,;、/+]/.test(sign) && !isInNumber(text, at)) gaps.push(at + 1);
    else if (sign === ' ' && /^ (?:and|plus|then) /.test(text.slice(at, at + 6))) gaps.push(at);
  }
  return gaps;
}

/** Whether a comma or slash is part of an amount or a date: `12,000`, `December 31, 2026`, `31/12/2026`. */
const isInNumber = (text: string, at: number): boolean => {
  const [before, after] = [text.slice(Math.max(0, at - 8), at), text.slice(at, at + 8)];
  return (
    (/\d$/.test(before) && /^(?:,\d{3}(?!\d)|\/\d)/.test(after)) ||
    (/[a-z] \d{1,2}(?:st|nd|rd|th)?$/.test(before) && /^, ?(?:19|20)\d{2}(?!\d| ?%)/.test(after))
  );
};

/** Percentages of other things. */
const OF_OTHERS =
  /折扣|优惠|递增|上浮|上涨|利率|利息|保险|股权|持股|表决|毛利|discount|insur|rebate|increas|escalat|shareholding|voting|margin|humidity|capacity|utili[sz]ation/;

/**
 * Reads a share with its condition but without a word for the total: `30% upon signing`, `货到验收后支付60%`, `30% deposit`,
 * `余款10%`. A condition may also be a date (`10% by 31 December 2026`) or a number of days (`60% net 30 days`).
 */
export function bareStage(document: Labelled, part: Span): BareStage | undefined {
  const text = document.plain.slice(part.start, Math.min(part.end, part.start + 300));
  const mark = MARK.exec(text);
  const percent = mark?.[1];
  if (!mark || percent === undefined || Number(percent) > 100 || Number(percent) === 0 || OF_OTHERS.test(text))
    return undefined;
  const end = mark.index + mark[0].length;
  const condition = conditionOf(document, part, { start: part.start + mark.index, end: part.start + end });
  if (!condition) return undefined;
  const [amount] = findAmounts(document, { from: part.start, to: part.end, limit: 1 });
  const payment = {
    period: condition.period,
    due: condition.due,
    amount: amount && { value: amount.value, start: amount.start, end: amount.end },
    // `付至90%` includes earlier payments: a plan with such a part is not read.
    share: UP_TO.test(text) ? undefined : { percent, start: part.start + mark.index, end: part.start + end },
    confidence: 0.78,
  };
  return { payment, isDated: condition.isDated };
}

interface Condition extends Pick<ReadPayment, 'period' | 'due'> {
  readonly isDated: boolean;
}

/** The name of a part, which is the condition of its share or amount. */
export function conditionOf(document: Labelled, part: Span, mark: Span): Condition | undefined {
  const text = document.plain.slice(part.start, Math.min(part.end, part.start + 300));
  const day = findDay(document.plain, part.start, part.start + text.length);
  const isDated = !MILESTONE.test(text);
  if ((isDated && !day && !DAYS.test(text)) || OF_OTHERS.test(text)) return undefined;
  const due = day && { start: day.start - part.start, end: day.end - part.start };
  const name =
    nameBefore(text, mark.start - part.start) ??
    nameAfter(text, mark.end - part.start) ??
    nounBefore(text, mark.start - part.start) ??
    (due && dated(text, due));
  if (!name) return undefined;
  // A name that ends within its date (`by December 31`) is continued to the end of it.
  const isCut = due !== undefined && name.end > due.start && name.end < due.end;
  const period = { start: part.start + name.start, end: part.start + (isCut ? due.end : name.end) };
  return {
    period: { ...period, value: rawText(document, period, 100) },
    due: day && { value: day.day, start: day.start, end: day.end },
    isDated,
  };
}

/** Numbering and conjunctions at the start of a part. */
export const OPENS =
  /^[\s,;、>*•·"-]*(?:\(?(?:[a-h]|\d{1,2}|[一二三四五六七八九十]{1,2}|[ivx]{1,4})(?:\.\d{1,2}){0,2}[).、,:]{1,2} *|[①-⑩] *)?(?:(?:and|then|plus) |即|在|于|自|待|the )*/;
const IS_WHEN =
  /(?:后|前|内|时|日|满|到|毕|完|起|月|年|天|签约|签订|到货|交货|提货|发货|收货|验收|开工|完工|竣工|生效)$/;
const PREPOSITIONS =
  '(?:up)?on(?: or before)?|within|after|(?:no|not) later than|by|due(?: on| by)?|net|before|prior to|at|against|following|with|when';
const ENGLISH_WHEN = new RegExp(`^(?:(?:${PREPOSITIONS}) (?:the )?[a-z0-9]|\\d{1,3} (?:days|weeks|months) )`);
/** A number of days or months after an event. */
const DAYS =
  /\d{1,3}\)? ?(?:(?:calendar|working|business|banking) )?(?:days|weeks|months)(?![a-z])|\d{1,3} ?(?:个?工作日|天|日内|个月)/;
const NOUNS = `${STAGES}|预付|advance|deposit|prepaid|retention`;
const NOUN = new RegExp(`^(?:${NOUNS})$`);
/** Whether the name of a payment is that of a stage, and not its condition. */
export const isStageName = (name: string): boolean => NOUN.test(name);
const NOUN_LAST = new RegExp(`(?<![a-z])(${NOUNS})(?![a-z])[^,;。%\\d]{0,24}$`);
const NOUN_FIRST = new RegExp(
  `^\\)? {0,2}(?:\\([^)]{0,40}\\) ?)?(?:为|作为|的|t/t |tt |cash |as |as an? |by t/t )?(${NOUNS})(?![a-z])`,
);

function nameBefore(text: string, until: number): Span | undefined {
  const from = leadFrom(text, until);
  const opening = OPENS.exec(text.slice(from, until))?.[0].length ?? 0;
  const start = from + opening;
  const whole = text.slice(start, until);
  const bare = whole.replace(/[\s,:(-]+$/, '');
  if (NOUN.test(bare)) return { start, end: start + bare.length };
  const said = whole.slice(0, PAYS.exec(whole)?.index ?? whole.length);
  // In a long text, only the words nearest to the share are its condition, as in `质保期满`.
  const near = said.length > 40 ? said.lastIndexOf(',') + 1 : 0;
  const name = said.slice(near);
  if (name.length < 2 || name.length > 80 || !(IS_WHEN.test(name) || ENGLISH_WHEN.test(name))) return undefined;
  return { start: start + near, end: start + near + name.length };
}

/** The stage named before its share without a condition: `签约付定金20%`. */
function nounBefore(text: string, until: number): Span | undefined {
  const from = Math.max(0, until - 60);
  const noun = NOUN_LAST.exec(text.slice(from, until));
  if (noun?.[1] === undefined) return undefined;
  const start = from + noun.index;
  return { start, end: start + noun[1].length };
}

const AFTER = new RegExp(
  `(?:^|[\\s,(])((?:(?:(?:${PREPOSITIONS}|in(?= advance| \\d)) (?:the )?[a-z0-9]|\\d{1,3} (?:(?:calendar|working|business|banking) )?(?:days|weeks|months) )(?:[^,.;:%(]|\\(\\d{1,3}\\)){2,70}))`,
);
const AFTER_CHINESE =
  /^\)? {0,2}(?:\([^)]{0,40}\))?(?:货款|价款|款项|款)?(?:于|在)?([^,。;:%]{2,30}?(?:后|前|内|时|日|天))(?=[一再应]?[次性]{0,2}(?:支付|付)|$|[,。;、])/;

/** A date with the words that belong to it: `by 31 December 2026`, `2026年12月31日前`. */
function dated(text: string, { start, end }: Span): Span {
  const before = /(?:(?:up)?on or before|(?:no|not) later than|due(?: on| by)?|before|until|by|on) (?:the )?$/.exec(
    text.slice(Math.max(0, start - 24), start),
  );
  const after = /^ ?(?:之前|以前|前|止|内|当日)/.exec(text.slice(end, end + 4));
  return { start: start - (before?.[0].length ?? 0), end: end + (after?.[0].length ?? 0) };
}

const MEANS_FIRST = new RegExp(
  `^[\\s,(]?(?:by|against|with) (?:means of |an? )?(?:${MEANS_ENGLISH}|tt|cash|wire|transfer)(?![a-z])`,
);
const MAX_MEANS = 4;

/** The first condition after a share that is not a means of payment: `60% by T/T on delivery`, `60% on 30.09.2026, by T/T`. */
function conditionAfter(text: string): { readonly 0: string; readonly 1: string; readonly index: number } | undefined {
  for (let from = 0, n = 0; n < MAX_MEANS; n++) {
    const found = AFTER.exec(text.slice(from));
    if (!found) return undefined;
    const index = from + found.index;
    const means = MEANS_FIRST.exec(text.slice(index));
    if (!means) return { 0: found[0], 1: found[1] ?? '', index };
    from = index + means[0].length;
  }
  return undefined;
}

function nameAfter(text: string, from: number): Span | undefined {
  const rest = text.slice(from);
  const noun = NOUN_FIRST.exec(rest);
  const found = noun ?? conditionAfter(rest.slice(0, 160)) ?? AFTER_CHINESE.exec(rest);
  const said = found?.[1]?.replace(/(?: and| by [a-z/ ]{2,24})$/, '').trimEnd();
  if (!found || said === undefined) return undefined;
  const start = from + found.index + found[0].indexOf(said);
  return { start, end: start + said.length };
}
