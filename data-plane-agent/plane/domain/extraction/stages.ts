import { warn, type GivenWarning } from '../../../base/warnings.js';
import { findAmounts, readAmount } from './amounts.js';
import { findDay } from './dates.js';
import { rawText, type Span } from './document.js';
import { announcementIn, listedPlan, partsListed } from './listed-plans.js';
import { numberedAmount, planOfAmounts, stageWithNumber } from './numbered-amounts.js';
import { bareStage, isPenalty, LONGEST, partsIn, partsOf, shareIn, WHOLE, type ReadPayment } from './shares.js';
import { STAGES } from './words/payments.js';
import type { Labelled } from './values.js';
import { oneOf, raw } from './words/one-of.js';

const MAX_PAYMENTS = 600;
const MAX_LINE = 4_000;
/** Lines between two yields. */
const STEP = 500;

const STAGE = new RegExp(
  `^[\\s>*•·-]*(?:\\(?(?:[a-h]|[\\divx一二三四五六七八九十]{1,4})(?:\\.\\d{1,2}){0,2}[).、,:]{0,2} *|[①-⑩] *)?(?:the |an? |本合同)?(${STAGES})(?![a-z])`,
);
const IN_CLAUSE = new RegExp(`(?:作为|作|as (?:the |an? )?|支付|付清)(${STAGES})(?![a-z])`);

export interface Stages {
  readonly payments: readonly ReadPayment[];
  readonly warnings: readonly GivenWarning[];
}

/**
 * A part of a plan with its line. `isBare`: it contains only a share and its condition, which alone is not enough to
 * identify a payment. `isDated`: its condition is only a date or a number of days.
 */
interface Member {
  readonly payment: ReadPayment;
  readonly isBare: boolean;
  readonly isDated: boolean;
  readonly line: number;
  /** Part of a plan that was read completely. */
  readonly isListed?: boolean;
  /** An amount that may be of something else. */
  readonly isItem?: boolean;
}

/**
 * Reads staged payments in clauses: `（1）预付款：合同签订后7日内支付合同总价的30%，即¥360,000元；`, and bare shares (`30% upon signing, 70%
 * upon delivery`) when they add up to 100 %. Yields between steps.
 */
export function* readStages(document: Labelled, total?: number): Generator<undefined, Stages> {
  const members: Member[] = [];
  const announced: number[] = [];
  let isUnread = false;
  for (const [i, line] of document.lines.entries()) {
    if (i % STEP === STEP - 1) yield;
    if (members.length >= MAX_PAYMENTS) break;
    const text = document.plain.slice(line.start, Math.min(line.end, line.start + MAX_LINE));
    // Every stage contains a number, or a fraction in words.
    if (!/\d|half|third|quarter|fifth|分|一半|instal|tranche/.test(text)) continue;
    const count = announcementIn(text)?.count;
    if (count !== undefined) announced.push(count);
    const before = members.length;
    const clauses = clausesOf(document, line);
    const whole = clauses.length > 1 ? wholeLine(document, line, total) : undefined;
    if (whole && !whole.isRead) isUnread = true;
    for (const clause of whole?.isRead ? [] : clauses) {
      const listed = isStage(document, clause) ? listedPlan(document, clause, total) : undefined;
      if (listed && !listed.isRead) isUnread = true;
      members.push(
        ...(listed?.isRead
          ? listed.payments.map((payment) => ({ payment, ...LISTED }))
          : stagesIn(document, clause)
        ).map((stage) => ({ ...stage, line: line.number })),
      );
    }
    if (whole) members.push(...whole.payments.map((payment) => ({ payment, line: line.number, ...LISTED })));
    const item = members.length === before ? numberedAmount(document, line) : undefined;
    if (item) members.push({ payment: item, isBare: true, isDated: false, isItem: true, line: line.number });
  }
  const runs = runsOf(document, members.slice(0, MAX_PAYMENTS), total);
  const payments = runs.flatMap(({ kept }) => kept.map(({ payment }) => payment));
  const warnings = runs.flatMap(({ warning }) => (warning ? [warning] : []));
  const most = Math.max(0, ...announced);
  if (most > payments.length || isUnread) warnings.push(unread(most, payments.length));
  return { payments, warnings: warnings.slice(0, 1) };
}

const LISTED = { isBare: false, isDated: false, isListed: true } as const;

/** A plan whose parts are separate sentences or items of one line: `as follows: (a) USD 30,000 on signing; (b) …`. */
function wholeLine(document: Labelled, { start, end }: Span, total: number | undefined) {
  const line = { start, end: Math.min(end, start + LONGEST) };
  return end > line.end || !isStage(document, line) ? undefined : listedPlan(document, line, total);
}

export const unread = (announced: number, read: number): GivenWarning =>
  warn('INSTALMENTS_MISMATCH', {
    message:
      announced > read
        ? `The text announces ${announced} instalments, and ${read} of them were read as payment lines.`
        : 'The text contains a payment plan whose parts were not all read as payment lines.',
  });

/** Whether a span contains a payment plan and not only a means of payment. */
export const isPlan = (document: Labelled, span: Span): boolean =>
  partsListed(document, span) > 1 ||
  stagesIn(document, span).some(
    ({ payment: { share, amount } }) => amount !== undefined || (share !== undefined && share.percent !== '100'),
  );

/** Ends of clauses, including commas before a stage with its own share: `首付款30%于3月1日前支付,尾款70%于6月1日前支付`. */
const ENDS = new RegExp(
  oneOf(
    '[;。]',
    raw`\. (?=[a-z(])`,
    raw`(?<=[,:;]) ?(?=\(?[1-9一二三四五六七八九][).、](?!\d))`,
    raw`(?<=[:,]) ?(?=第[一二三四五六七八九十\d]{1,3}(?:期|笔|次|批|阶段)|(?:the )?(?:first|second|third|fourth|final|last) (?:instal?ment|payment))`,
    raw`(?<=,) ?(?=(?:首付款|首期款|[一二三四五六七八九十]期(?:进度)?款|中期款|预付款|定金|进度款|发货款|提货款|到货款|交货款|安装款|调试款|验收款|结算款|质保金|保修金|尾款|余款|末期款|末款)[^,;。%\d]{0,12}\d[\d,.]{0,14} ?(?:%|元|万|(?=[,;。]|$)))`,
  ),
  'g',
);

/** Splits a line into sentences and list items. */
function clausesOf(document: Labelled, { start, end }: Span): Span[] {
  const text = document.plain.slice(start, Math.min(end, start + MAX_LINE));
  const parts: Span[] = [];
  let from = 0;
  for (const mark of text.matchAll(ENDS)) {
    if (mark.index > from) parts.push({ start: start + from, end: start + mark.index });
    from = mark.index + mark[0].length;
  }
  if (from < text.length) parts.push({ start: start + from, end: start + text.length });
  return parts.slice(0, 100);
}

const isStage = ({ plain }: Labelled, { start, end }: Span): boolean =>
  end - start >= 5 && !isPenalty(plain.slice(start, Math.min(end, start + 600)));

function stagesIn(document: Labelled, clause: Span): Omit<Member, 'line'>[] {
  if (!isStage(document, clause)) return [];
  return partsOf(document, clause).flatMap((part): Omit<Member, 'line'>[] => {
    const named = stageIn(document, part);
    if (named) return [{ payment: named, isBare: false, isDated: false }];
    const bare = bareStage(document, part);
    if (bare) return [{ ...bare, isBare: true }];
    const counted = stageWithNumber(document, part);
    return counted ? [{ payment: counted, isBare: false, isDated: false, isItem: true }] : [];
  });
}

function stageIn(document: Labelled, clause: Span): ReadPayment | undefined {
  const text = document.plain.slice(clause.start, Math.min(clause.end, clause.start + 600));
  if (!/[%\d]/.test(text) || text.length < 5) return undefined;
  const lead = STAGE.exec(text) ?? IN_CLAUSE.exec(text) ?? conditionIn(text);
  const name = lead?.[1]?.trim();
  if (!lead || name === undefined) return undefined;
  const nameAt = clause.start + lead.index + lead[0].lastIndexOf(name);
  const share = shareIn(document, clause);
  const [amount] = findAmounts(document, { from: clause.start, to: clause.end, limit: 1 });
  const labelled = amount ?? afterColon(document, clause);
  const mark = share ?? labelled;
  if (!mark || isOfAnother(document, { start: nameAt, end: nameAt + name.length }, mark)) return undefined;
  const day = findDay(document.plain, clause.start, clause.end);
  const period = { start: nameAt, end: nameAt + name.length };
  return {
    period: { ...period, value: rawText(document, period) },
    due: day && { value: day.day, start: day.start, end: day.end },
    amount: labelled && { value: labelled.value, start: labelled.start, end: labelled.end },
    share,
    confidence: lead.index === 0 && STAGE.test(text) ? 0.88 : 0.78,
  };
}

const ANOTHER = new RegExp(
  `(?:付清|付完|付讫|结清|支付|付款|paid|payable|due)[^,;]{0,20}[,;]|[,;][^,;]{0,40}?(?<![a-z])(?:${STAGES}|deposit)(?![a-z])`,
);

/**
 * Whether a share or amount belongs to another payment than the one named: `签订合同时付定金20%，提货时付清余款`, `余款货到付清，定金20%`.
 */
function isOfAnother({ plain }: Labelled, name: Span, mark: Span): boolean {
  if (mark.end <= name.start) {
    const between = plain.slice(mark.end, name.start).slice(0, 300);
    return /[,;]/.test(between) && !/(?:作为|作|[ ,]as (?:the |an? )?)$/.test(between);
  }
  return mark.start > name.end && ANOTHER.test(plain.slice(name.end, Math.min(mark.start, name.end + 300)));
}

const OF_TOTAL = new RegExp(
  oneOf(
    raw`(?:支付|付清|付|作为)[^%，,]{0,16}?(?:总价|总额|总金额|总价款|价款|货款|总款|总值|合同款)[^%\d]{0,8}\d{1,3}(?:\.\d{1,2})? {0,2}%`,
    raw`\d{1,3}(?:\.\d{1,2})? {0,2}(?:%|per ?cent) of the (?:total |contract |purchase |agreed ){0,3}(?:price|value|amount|sum)`,
  ),
);
const WHEN =
  /^[\s>*•·-]*(?:\(?(?:[a-h]|[\divx一二三四五六七八九十]{1,4})(?:\.\d{1,2}){0,2}[).、,:]{1,2} *|[①-⑩] *)?([^,，:%。;]{2,30}?(?:后|前|内|时|日)(?:[^,，:%。;]{0,12}?内)?)(?=,|，|由|[需买承乙甲]方|承租人|买受人|[再应一]?[次]?支付|[应再]?付)/;
const WHEN_ENGLISH =
  /%[^%]{0,80}?((?:up)?on |within |after |before |prior to |at |against )([a-z\d](?:[^,.;:%(]|\(\d{1,3}\)){3,60})/;

/** Finds a share of the total with a condition but no name: for `发货前支付合同总额的50%` the name is `发货前`. */
function conditionIn(text: string): RegExpExecArray | null {
  if (!OF_TOTAL.test(text)) return null;
  const chinese = WHEN.exec(text);
  if (chinese) return chinese;
  const english = WHEN_ENGLISH.exec(text);
  if (!english) return null;
  english[1] = `${english[1] ?? ''}${english[2] ?? ''}`;
  return english;
}

/** An amount after a colon that may lack a currency: `First instalment: 30,000`. */
function afterColon(document: Labelled, clause: Span) {
  const colon = document.plain.slice(clause.start, clause.end).indexOf(':');
  const amount = colon < 0 ? undefined : readAmount(document, clause.start + colon + 1);
  return amount && !amount.isBare && amount.end <= clause.end ? amount : undefined;
}

/** The largest number of lines between two parts of a plan. */
const APART = 3;

interface Run {
  readonly kept: readonly Member[];
  readonly warning: GivenWarning | undefined;
}

/**
 * Groups adjacent parts into plans. Bare parts count only if all shares add up to 100 %; otherwise they are not a plan,
 * or a part was not recognized.
 */
function runsOf(document: Labelled, members: readonly Member[], total: number | undefined): Run[] {
  const runs: Member[][] = [];
  for (const member of members) {
    const run = runs.at(-1);
    const isOfList =
      member.isListed === run?.at(-1)?.isListed && (!member.isListed || member.line === run?.at(-1)?.line);
    if (run && isOfList && (member.isListed || sumOf(run) !== WHOLE) && member.line - (run.at(-1)?.line ?? 0) <= APART)
      run.push(member);
    else runs.push([member]);
  }
  return runs.map((run) => {
    const kept = planOfAmounts(document, run, total);
    const plan = planIn(kept);
    // Two instalments with names, but without a currency, that do not add up to the total.
    const left = run.filter(({ isItem, isBare }) => isItem && !isBare);
    return left.length > 1 && kept.length < run.length ? { ...plan, warning: plan.warning ?? unread(0, 0) } : plan;
  });
}

function planIn(run: readonly Member[]): Run {
  const isOfAmounts = run.some(({ isItem }) => isItem) && run.every(({ payment: { amount } }) => amount !== undefined);
  if (run[0]?.isListed || isOfAmounts) return { kept: run, warning: undefined };
  const whole = [run, run.filter(({ isDated }) => !isDated)].find((one) => one.length > 1 && sumOf(one) === WHOLE);
  if (whole) return { kept: whole, warning: undefined };
  // A percentage with only a date counts beside a part of a plan; elsewhere it may be of anything, such as a rent increase.
  const said = run.filter(
    (member) => !member.isDated || run.some(({ isDated, line }) => !isDated && line === member.line),
  );
  const named = said.filter(({ isBare }) => !isBare);
  const sum = sumOf(said);
  // A single bare share may be a share of anything.
  if (named.length === said.length || said.length < 2 || sumOf(named) === WHOLE)
    return { kept: named, warning: undefined };
  return {
    kept: named,
    warning: warn('INSTALMENTS_MISMATCH', {
      message: `The shares of the instalments add up to ${Math.round((sum * 10_000) / WHOLE) / 100} % and not to 100 %: those that have no name were not read as payment lines.`,
    }),
  };
}

/** In parts of `WHOLE`. */
const sumOf = (run: readonly Member[]): number => run.reduce((sum, { payment }) => sum + partsIn(payment.share), 0);
