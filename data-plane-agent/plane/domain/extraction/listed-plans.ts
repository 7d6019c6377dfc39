import { findAmounts } from './amounts.js';
import { rawText, type Span } from './document.js';
import { readChineseNumber, readEnglishNumber } from './numerals.js';
import {
  conditionOf,
  isStageName,
  LONGEST,
  partsIn,
  partsOf,
  percentsIn,
  UP_TO,
  WHOLE,
  type ReadPayment,
} from './shares.js';
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
  /(?<![a-z])(?:the )?(?:balance|remainder|remaining (?:balance|amount|sum|half|third|quarter)|rest)(?![a-z]| of (?!(?:the |this |said )?(?:total |contract |purchase |agreed )*(?:price|amount|sum|value|payment)))|余款|尾款|余额|剩余(?:款项|货款|部分|款)?|其余(?:款项|货款|部分|款)?/g;

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
  const read = parts.flatMap((part, i) => paymentOf(document, part, marks[i]));
  const isListed = parts.length === marks.length && read.length === marks.length;
  const at = marks.findIndex(({ share, amount }) => !share && !amount);
  const rest = marks[at];
  const payments = isListed && rest ? withName(document, read, { at, rest }) : read;
  if (kind === 'amount') {
    const sum = sumOf(marks);
    const left = total === undefined ? undefined : rounded(total - sum);
    const isPlan = rest
      ? left !== undefined && left > 0
      : left === 0 || announced?.count === marks.length || (left === undefined && leads(document, clause, marks));
    if (isListed && isPlan)
      return {
        payments: payments.map((payment, i) =>
          rest && i === at ? { ...payment, amount: { ...rest, value: String(left) } } : payment,
        ),
        isRead: true,
      };
    return leads(document, clause, marks) ? { payments: [], isRead: false } : undefined;
  }
  const left = WHOLE - marks.reduce((all, { share }) => all + partsIn(share), 0);
  if (isListed && (rest ? left > 0 : left === 0))
    return {
      payments: payments.map((payment, i) =>
        rest && i === at ? { ...payment, share: { ...rest, percent: '', parts: left } } : payment,
      ),
      isRead: true,
    };
  if (kind === 'percent' && leads(document, clause, marks)) return { payments: [], isRead: false };
  return kind === 'fraction' && payments.length > 1 ? { payments: [], isRead: false } : undefined;
}

const PLAN_LEAD =
  /(?:(?<![a-z])(?:payable|paid|pays?|payments?|instal?ments?)(?![a-z])[^.;。\n]{0,40}|(?:付款|支付|货款|价款)[^。;,\n]{0,12})(?:as follows|:|如下)/;
const NUMBERINGS = /(?:^|[\s,:;。])(?:\(?(?:[a-h]|[ivx]{1,4}|\d{1,2}|[一二三四五六七八九十]{1,2})[).、]|[①-⑩])/g;

/** Whether a numbered list of payments is announced by the words before it: `payable as follows: (a) USD 30,000 …`. */
function leads({ plain }: Labelled, { start }: Span, marks: readonly Mark[]): boolean {
  const [first, last] = [marks[0], marks.at(-1)];
  if (!first || !last) return false;
  const before = plain.slice(Math.max(start, first.start - 300), first.start);
  const numbers = [...plain.slice(first.start, last.start).matchAll(NUMBERINGS)].length;
  return numbers >= marks.length - 1 && PLAN_LEAD.test(before) && !RECURRING.test(before);
}

const sumOf = (marks: readonly Mark[]): number =>
  rounded(marks.reduce((sum, { amount }) => sum + Number(amount?.value ?? 0), 0));
/** Amounts have at most four decimals. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;

/** Beside payments with the names of stages (`定金20%`), the remainder has its name too, and not its condition. */
function withName(
  document: Labelled,
  payments: readonly ReadPayment[],
  { at, rest }: { readonly at: number; readonly rest: Mark },
): readonly ReadPayment[] {
  const isNamed = payments.some(
    ({ period }, i) => i !== at && isStageName(document.plain.slice(period.start, period.end)),
  );
  return isNamed
    ? payments.map((payment, i) => (i === at ? { ...payment, period: named(document, rest) } : payment))
    : payments;
}

const named = (document: Labelled, { start, end }: Span): ReadPayment['period'] => {
  const article = /^the /.exec(document.plain.slice(start, end))?.[0].length ?? 0;
  const span = { start: start + article, end };
  return { ...span, value: rawText(document, span, 100) };
};

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
  const rest = restIn(text, { said, from: span.start });
  // Percentages without a remainder are read as stages.
  if (kind === 'percent' && !rest) return { marks: [], kind };
  return { marks: rest ? [...said, rest].toSorted((a, b) => a.start - b.start) : said, kind };
}

/** The number of shares, fractions or amounts in a text, with the remainder. */
export function partsListed(document: Labelled, { start, end }: Span): number {
  const span = { start, end: Math.min(end, start + LONGEST) };
  const text = document.plain.slice(span.start, span.end);
  const inWords = [...text.matchAll(PERCENT_IN_WORDS)].length;
  const { marks, kind } = marksIn(document, span);
  return Math.max(
    percentsIn(document, span).length,
    inWords,
    kind === 'amount' && RECURRING.test(text) ? 0 : marks.length,
  );
}
const PERCENT_IN_WORDS = /(?<![a-z])(?:[a-z]{2,5}ty|ten|five)(?:[ -][a-z]{3,5})? per ?cent(?![a-z])/g;

/** The remainder after the last share or amount, or before the first one: `余款货到付清，签约付定金20%`. */
function restIn(
  text: string,
  { said, from }: { readonly said: readonly Mark[]; readonly from: number },
): Mark | undefined {
  const [first, last] = [said[0], said.at(-1)];
  if (!first || !last) return undefined;
  const rests = [...text.matchAll(REST)].map(({ index, 0: words }) => ({
    start: from + index,
    end: from + index + words.length,
  }));
  // `余款80%` is the name of a share.
  const before = rests.filter(
    ({ end }) => end <= first.start && /[,;、。]|\. | and /.test(text.slice(end - from, first.start - from)),
  );
  return rests.find(({ start }) => start >= last.end) ?? (before.length === 1 ? before[0] : undefined);
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
  const isRest = !mark.share && !mark.amount;
  if (isRest && IN_PARTS.test(document.plain.slice(part.start, Math.min(part.end, part.start + 300)))) return [];
  const condition = conditionOf(document, part, mark) ?? conditionOfRest(document, part, mark);
  if (!condition) return [];
  const { period, due } = condition;
  return [{ period, due, amount: mark.amount, share: mark.share, confidence: 0.78 }];
}

const IS_PAID = /付|清|结算|结清|(?<![a-z])(?:paid|pays?|payable|due|settled)(?![a-z])/;

/** A remainder that is paid in parts, or by someone else. */
const IN_PARTS = /分(?:期|[\d一二三四五六七八九十]{1,3} ?[期次个笔])|按揭|贷款|instal|monthly|financ|loan/;

/** A remainder is its own name if its part says that it is paid: `余款货到付清`. */
function conditionOfRest(document: Labelled, part: Span, mark: Mark): Pick<ReadPayment, 'period' | 'due'> | undefined {
  const text = document.plain.slice(part.start, Math.min(part.end, part.start + 300));
  return !mark.share && !mark.amount && IS_PAID.test(text)
    ? { period: named(document, mark), due: undefined }
    : undefined;
}

const COUNT = raw`(?:[a-z]{3,5} \()?(two|three|four|five|six|[2-9])\)?`;
const ANNOUNCED = new RegExp(
  oneOf(
    raw`(?<![a-z])${COUNT} (?:equal |separate |consecutive ){0,2}(?:monthly |quarterly |yearly |annual )?(?:instal?ments|payments of|part payments|stage payments|stages of payment|tranches)(?![a-z])`,
    raw`(?:paid|payable|payment) in ${COUNT} (?:equal )?(?:payments|parts|stages)(?![a-z])`,
    '分([二两三四五六2-6])(?:期|笔|次|个阶段|阶段)(?:支付|付|结算)',
  ),
);
/** Rents are paid in many equal instalments, which are not lines of a plan. */
const RECURRING = /month|quarter|year|annual|week|每月|每季|每年|按月|租金/;

/** A price is paid completely by its instalments: `The price is payable in three equal monthly instalments`. */
const OF_PRICE = /price|货款|价款|总价/;
const OF_RENT = /rent|hire|leas|租/;

/** The number of instalments that a text announces, and the position after it: `payable in three instalments`. */
export function announcementIn(text: string): { readonly count: number; readonly end: number } | undefined {
  const match = ANNOUNCED.exec(text);
  const word = match?.slice(1).find((group) => group !== undefined);
  if (!match || word === undefined) return undefined;
  const around = text.slice(Math.max(0, match.index - 60), match.index + match[0].length + 40);
  if (RECURRING.test(around) && !(OF_PRICE.test(around) && !OF_RENT.test(around))) return undefined;
  const count = /\d/.test(word)
    ? Number(word)
    : Number((readEnglishNumber(word, 0) ?? readChineseNumber(word, 0))?.value);
  return { count, end: match.index + match[0].length };
}
