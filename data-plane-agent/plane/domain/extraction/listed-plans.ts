import { findAmounts } from './amounts.js';
import type { Span } from './document.js';
import { readChineseNumber, readEnglishNumber } from './numerals.js';
import { conditionOf, LONGEST, partsIn, partsOf, percentsIn, UP_TO, WHOLE, type ReadPayment } from './shares.js';
import type { Labelled } from './values.js';
import { oneOf, raw } from './words/one-of.js';

/** A plan within one clause; `isRead` is false where a plan was recognised but not read completely. */
export interface ListedPlan {
  readonly payments: readonly ReadPayment[];
  readonly isRead: boolean;
}

/** A share or amount of a clause. A remainder has neither. */
interface Mark extends Span {
  readonly share?: Exclude<ReadPayment['share'], undefined>;
  readonly amount?: Exclude<ReadPayment['amount'], undefined>;
}

const FRACTION = new RegExp(
  oneOf(
    raw`(?<![a-z\d])(?:(?:a|an|one|two|three|another|the other|1|2|3)[ -])?(?:half|(?:thirds?|quarters?|fourths?|fifths?)(?= |,|;|\.|$))(?![a-z-])`,
    raw`(?<![\d/.])[1-9]/(?:[2-9]|10|12)(?![\d/.])`,
    '[二三四五六十]分之[一二三四五]',
    '一半',
  ),
  'g',
);
const NAMED: Readonly<Record<string, number>> = { half: 2, third: 3, quarter: 4, fourth: 4, fifth: 5 };
const REST =
  /(?<![a-z])(?:the )?(?:balance|remainder|remaining (?:balance|amount|sum|half|third|quarter)|rest)(?![a-z]| of (?:the|this) (?:agreement|contract|term))|余款|尾款|余额|剩余(?:款项|货款|部分|款)?|其余(?:款项|货款|部分|款)?/g;

/**
 * Reads a plan listed in one clause: amounts (`three instalments: USD 30,000 on signing and USD 60,000 on delivery`),
 * fractions (`one third on order, two thirds on delivery`), and shares with a remainder (`30% on order, balance on
 * delivery`). Amounts of other things are also listed in clauses, so amounts must add up to the total, or their number
 * must be that of the announced instalments.
 */
export function listedPlan(document: Labelled, clause: Span, total: number | undefined): ListedPlan | undefined {
  const announced = announcementIn(document.plain.slice(clause.start, Math.min(clause.end, clause.start + LONGEST)));
  const span = { start: clause.start + (announced?.end ?? 0), end: Math.min(clause.end, clause.start + LONGEST) };
  const { marks, kind } = marksIn(document, span);
  if (marks.length < 2) return undefined;
  const parts = partsOf(document, span, marks);
  const payments = parts.flatMap((part, i) => paymentOf(document, part, marks[i]));
  const rest = marks.at(-1);
  const hasRest = rest !== undefined && !rest.share && !rest.amount;
  const isListed = parts.length === marks.length && payments.length === marks.length;
  if (kind === 'amount') {
    const sum = sumOf(marks);
    const left = total === undefined ? undefined : rounded(total - sum);
    const isPlan = hasRest ? left !== undefined && left > 0 : left === 0 || announced?.count === marks.length;
    return isListed && isPlan
      ? { payments: hasRest ? withRest(payments, { ...rest, value: String(left) }) : payments, isRead: true }
      : undefined;
  }
  const left = WHOLE - marks.reduce((all, { share }) => all + partsIn(share), 0);
  if (isListed && (hasRest ? left > 0 : left === 0))
    return {
      payments: payments.map((payment, i) =>
        hasRest && i === payments.length - 1 ? { ...payment, share: { ...rest, percent: '', parts: left } } : payment,
      ),
      isRead: true,
    };
  return kind === 'fraction' && payments.length > 1 ? { payments: [], isRead: false } : undefined;
}

const sumOf = (marks: readonly Mark[]): number =>
  rounded(marks.reduce((sum, { amount }) => sum + Number(amount?.value ?? 0), 0));
/** Amounts have at most four decimals. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;

const withRest = (payments: readonly ReadPayment[], amount: Exclude<ReadPayment['amount'], undefined>) =>
  payments.map((payment, i) => (i === payments.length - 1 ? { ...payment, amount } : payment));

function marksIn(
  document: Labelled,
  span: Span,
): { readonly marks: Mark[]; readonly kind: 'percent' | 'fraction' | 'amount' } {
  const text = document.plain.slice(span.start, span.end);
  const percents = UP_TO.test(text) ? [] : percentsIn(document, span).map((share) => ({ ...share, share }));
  const fractions = [...text.matchAll(FRACTION)].slice(0, 12).flatMap((match) => fractionOf(match, span.start));
  const kind = percents.length > 0 ? 'percent' : fractions.length > 0 ? 'fraction' : 'amount';
  const said: Mark[] =
    kind === 'percent'
      ? percents
      : kind === 'fraction'
        ? fractions
        : findAmounts(document, { from: span.start, to: span.end, limit: 12 }).map((amount) => ({ ...amount, amount }));
  const last = said.at(-1);
  const rest = last && [...text.matchAll(REST)].find(({ index }) => span.start + index >= last.end);
  // Percentages without a remainder are read as stages.
  if (kind === 'percent' && !rest) return { marks: [], kind };
  const marks = rest
    ? [...said, { start: span.start + rest.index, end: span.start + rest.index + rest[0].length }]
    : said;
  return { marks, kind };
}

function fractionOf({ 0: said, index }: RegExpExecArray, from: number): Mark[] {
  const span = { start: from + index, end: from + index + said.length };
  const [top, bottom] = ratioOf(said);
  return bottom >= 2 && top < bottom
    ? [{ ...span, share: { ...span, percent: '', parts: (WHOLE / bottom) * top } }]
    : [];
}

function ratioOf(said: string): readonly [top: number, bottom: number] {
  if (said.includes('/')) return [Number(said.split('/')[0]), Number(said.split('/')[1])];
  if (said === '一半') return [1, 2];
  const [bottom = '', top = ''] = said.split('分之');
  if (top !== '') return [chinese(top), chinese(bottom)];
  const words = said.split(/[ -]/);
  const count = /^(?:two|2)/.test(said) ? 2 : /^(?:three|3)/.test(said) ? 3 : 1;
  return [count, NAMED[(words.at(-1) ?? '').replace(/s$/, '')] ?? 0];
}

const chinese = (word: string): number => Number(readChineseNumber(word, 0)?.value ?? 0);

function paymentOf(document: Labelled, part: Span, mark: Mark | undefined): ReadPayment[] {
  if (!mark) return [];
  const condition = conditionOf(document, part, mark);
  if (!condition) return [];
  const { period, due } = condition;
  return [{ period, due, amount: mark.amount, share: mark.share, confidence: 0.78 }];
}

const COUNT = raw`(?:[a-z]{3,5} \()?(two|three|four|five|six|[2-9])\)?`;
const ANNOUNCED = new RegExp(
  oneOf(
    raw`(?<![a-z])${COUNT} (?:equal |separate )?(?:instal?ments|part payments|stage payments|stages of payment|tranches)(?![a-z])`,
    raw`(?:paid|payable|payment) in ${COUNT} (?:equal )?(?:payments|parts|stages)(?![a-z])`,
    '分([二两三四五六2-6])(?:期|笔|次|个阶段|阶段)(?:支付|付|结算)',
  ),
);
/** Rents are paid in many equal instalments, which are not lines of a plan. */
const RECURRING = /month|quarter|year|annual|week|每月|每季|每年|按月|租金/;

/** The number of instalments that a text announces, and the position after it: `payable in three instalments`. */
export function announcementIn(text: string): { readonly count: number; readonly end: number } | undefined {
  const match = ANNOUNCED.exec(text);
  const word = match?.slice(1).find((group) => group !== undefined);
  if (!match || word === undefined) return undefined;
  if (RECURRING.test(text.slice(Math.max(0, match.index - 60), match.index + match[0].length + 40))) return undefined;
  const count = /\d/.test(word)
    ? Number(word)
    : Number((readEnglishNumber(word, 0) ?? readChineseNumber(word, 0))?.value);
  return { count, end: match.index + match[0].length };
}
