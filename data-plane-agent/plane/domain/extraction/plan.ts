import { findAmounts, readAmount } from './amounts.js';
import type { Readings } from './candidates.js';
import { findDay } from './dates.js';
import { rawText, trimmed, type Span } from './document.js';
import { amountIn } from './goods.js';
import { columnFor, type Table } from './tables.js';
import { textOf, type Labelled } from './values.js';

/** One payment as the document tells of it. A share of the total becomes an amount once the total is known. */
export interface ReadPayment {
  readonly period: Span & { readonly value: string };
  readonly due: (Span & { readonly value: string }) | undefined;
  readonly amount: (Span & { readonly value: string }) | undefined;
  readonly share: (Span & { readonly percent: string }) | undefined;
  readonly confidence: number;
}

const TOTAL = /^(?:合 *计|总 *计|小 *计|共 *计|total|sum|grand)/;
const MAX_PAYMENTS = 600;
const MAX_LINE = 4_000;
/** Lines between two pauses. */
const STEP = 500;

/** A schedule of payments in a table: instalment, due date, amount or share. */
export function readSchedule(document: Labelled, table: Table): ReadPayment[] {
  const at = { period: columnFor(table, 'line:no'), due: columnFor(table, 'line:due', 'signDate'), amount: columnFor(table, 'line:amount', 'periodicRent', 'totalAmount'), share: columnFor(table, 'line:share') };
  const isPlan = at.period >= 0 && (at.amount >= 0 || at.share >= 0) && (at.due >= 0 || columnFor(table, 'line:amount') >= 0 || at.share >= 0 || columnFor(table, 'periodicRent') >= 0);
  if (!isPlan || columnFor(table, 'quantity') >= 0) return [];
  const payments: ReadPayment[] = [];
  for (const row of table.rows) {
    if (row.length !== table.columns.length || payments.length >= MAX_PAYMENTS) continue;
    const cell = row[at.period];
    const period = cell && periodIn(document, cell);
    if (!cell || !period || TOTAL.test(document.plain.slice(cell.start, cell.end))) continue;
    const dueCell = at.due < 0 ? undefined : row[at.due];
    const day = dueCell && findDay(document.plain, dueCell.start, dueCell.end);
    const amount = amountIn(document, table, row, at.amount);
    const shareCell = at.share < 0 ? undefined : row[at.share];
    const share = shareCell && shareIn(document, shareCell);
    if (!amount && !share) continue;
    payments.push({ period, due: day && { value: day.day, start: day.start, end: day.end }, amount: amount && { value: amount.value, start: amount.start, end: amount.end }, share, confidence: 0.93 });
  }
  return payments;
}

/** Also a bare number: instalments are often only counted. */
function periodIn(document: Labelled, cell: Span): ReadPayment['period'] | undefined {
  const bare = trimmed(document, cell);
  if (/^\d{1,3}$/.test(document.plain.slice(bare.start, bare.end))) return { ...bare, value: rawText(document, bare) };
  const text = textOf(document, cell, 100);
  if (text) return text;
  // `定金` announces a deposit elsewhere; in a plan it is a stage.
  return WHOLE_STAGE.test(document.plain.slice(bare.start, bare.end)) ? { ...bare, value: rawText(document, bare) } : undefined;
}

const STAGES =
  '预付款|预付货款|预付定金|首付款|首期款|首付|首期租金|首期|定金|订金|进度款|发货款|提货款|到货款|交货款|货到款|安装款|安装调试款|调试款|验收款|竣工款|结算款|质保金|质量保证金|保修金|尾款|余款|末期款|第[一二三四五六七八九十\\d]{1,3}(?:期|笔|次|阶段|批)(?:款项|款|租金|付款|货款)?|' +
  '(?:first|second|third|fourth|fifth|sixth|final|last|initial|1st|2nd|3rd|[4-9]th) (?:instal?ment|payment|milestone)|down ?payment|advance payment|prepayment|progress payment|delivery payment|acceptance payment|balance payment|balance|retention(?: money| sum)?|final payment|instal?ment (?:no\\.? ?)?\\d{1,2}';
const STAGE = new RegExp(`^[\\s>*•·-]*(?:\\(?(?:[a-h]|[\\divx一二三四五六七八九十]{1,4})(?:\\.\\d{1,2}){0,2}[).、,:]{0,2} *|[①-⑩] *)?(?:the |an? |本合同)?(${STAGES})(?![a-z])`);
const WHOLE_STAGE = new RegExp(`^(?:${STAGES})$`);
const IN_CLAUSE = new RegExp(`(?:作为|作|as (?:the |an? )?|支付|付清)(${STAGES})(?![a-z])`);
/** What is paid for being late or for failing is no payment of the plan. */
const PENALTY = /违约|滞纳|逾期|赔偿|罚|每日|日利率|penalt|late (?:charge|fee|payment)|overdue|default|liquidated|interest|damages|per day|per annum/;
/** What was paid before is in such a share. */
const UP_TO = /付至|支付到|付到|累计|up to|cumulative/;
const SHARE = /(?:合同|总价|货款|价款|金额|租金|total|contract|price|value|amount|付|款|pay|of |\( ?|:|^|\s)[^%\n]{0,24}?(\d{1,3}(?:\.\d{1,2})?) {0,2}(?:%|per ?cent)/;

/** Staged payments in clauses: `（1）预付款：合同签订后7日内支付合同总价的30%，即¥360,000元；`. Yields where it may pause. */
export function* readStages(document: Labelled): Generator<undefined, ReadPayment[]> {
  const payments: ReadPayment[] = [];
  for (const [i, line] of document.lines.entries()) {
    if (i % STEP === STEP - 1) yield;
    // Every stage says how much.
    if (payments.length >= MAX_PAYMENTS) break;
    if (!/\d/.test(document.plain.slice(line.start, Math.min(line.end, line.start + MAX_LINE)))) continue;
    for (const clause of clausesOf(document, line)) {
      const payment = stageIn(document, clause);
      if (payment) payments.push(payment);
    }
  }
  return payments.slice(0, MAX_PAYMENTS);
}

/** Also before a stage that says how much in the same sentence: `首付款30%于3月1日前支付,尾款70%于6月1日前支付`. */
const ENDS = /[;。]|\. (?=[a-z(])|(?<=[,:;]) ?(?=\(?[1-9一二三四五六七八九][).、](?!\d))|(?<=[:,]) ?(?=第[一二三四五六七八九十\d]{1,3}(?:期|笔|次|批|阶段)|(?:the )?(?:first|second|third|fourth|final|last) (?:instal?ment|payment))|(?<=,) ?(?=(?:首付款|首期款|预付款|定金|进度款|发货款|到货款|交货款|安装款|调试款|验收款|结算款|质保金|保修金|尾款|余款)[^,;。%\d]{0,12}\d[\d,.]{0,14} ?(?:%|元|万))/g;

/** The clauses of a line, parted where a sentence or a member of a list ends. */
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

function stageIn(document: Labelled, clause: Span): ReadPayment | undefined {
  const text = document.plain.slice(clause.start, Math.min(clause.end, clause.start + 600));
  if (!/[%\d]/.test(text) || text.length < 5) return undefined;
  const lead = STAGE.exec(text) ?? IN_CLAUSE.exec(text) ?? conditionIn(text);
  const name = lead?.[1]?.trim();
  if (!lead || name === undefined || PENALTY.test(text)) return undefined;
  const nameAt = clause.start + lead.index + lead[0].lastIndexOf(name);
  const share = shareIn(document, clause);
  const [amount] = findAmounts(document, clause.start, clause.end, 1);
  const labelled = amount ?? afterColon(document, clause);
  if (!share && !labelled) return undefined;
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

const OF_TOTAL = /(?:支付|付清|付|作为)[^%，,]{0,16}?(?:总价|总额|总金额|总价款|价款|货款|总款|总值|合同款)[^%\d]{0,8}\d{1,3}(?:\.\d{1,2})? {0,2}%|\d{1,3}(?:\.\d{1,2})? {0,2}(?:%|per ?cent) of the (?:total |contract |purchase |agreed ){0,3}(?:price|value|amount|sum)/;
const WHEN = /^[\s>*•·-]*(?:\(?(?:[a-h]|[\divx一二三四五六七八九十]{1,4})(?:\.\d{1,2}){0,2}[).、,:]{1,2} *|[①-⑩] *)?([^,，:%。;]{2,30}?(?:后|前|内|时|日)(?:[^,，:%。;]{0,12}?内)?)(?=,|，|由|[需买承乙甲]方|承租人|买受人|[再应一]?[次]?支付|[应再]?付)/;
const WHEN_ENGLISH = /%[^%]{0,80}?((?:up)?on |within |after |before |prior to |at |against )([a-z][^,.;:%(]{3,60})/;

/** A share of the total that is paid when something has happened, without a name: `发货前支付合同总额的50%` is the payment `发货前`. */
function conditionIn(text: string): RegExpExecArray | null {
  if (!OF_TOTAL.test(text)) return null;
  const chinese = WHEN.exec(text);
  if (chinese) return chinese;
  const english = WHEN_ENGLISH.exec(text);
  if (!english) return null;
  english[1] = `${english[1] ?? ''}${english[2] ?? ''}`;
  return english;
}

/** `First instalment: 30,000` with no currency beside it. */
function afterColon(document: Labelled, clause: Span) {
  const colon = document.plain.slice(clause.start, clause.end).indexOf(':');
  const amount = colon < 0 ? undefined : readAmount(document, clause.start + colon + 1);
  return amount && !amount.isBare && amount.end <= clause.end ? amount : undefined;
}

function shareIn(document: Labelled, { start, end }: Span): ReadPayment['share'] | undefined {
  const text = document.plain.slice(start, Math.min(end, start + 600));
  const match = UP_TO.test(text) ? null : SHARE.exec(text);
  const percent = match?.[1];
  if (!match || percent === undefined || Number(percent) > 100 || Number(percent) === 0) return undefined;
  const at = start + match.index + match[0].lastIndexOf(percent, match[0].length - 1);
  return { percent, start: at, end: start + match.index + match[0].length };
}

/** Puts the payments among the readings, in the order of the document. `total` is in major units. */
export function addPayments(payments: readonly ReadPayment[], readings: Readings, total: { value: number; decimals: number } | undefined): void {
  for (const [n, { period, due, amount, share, confidence }] of payments.entries()) {
    readings.add(`payments[${n}].period`, { value: period.value, start: period.start, end: period.end, confidence });
    if (due) readings.add(`payments[${n}].dueDate`, { value: due.value, start: due.start, end: due.end, confidence });
    if (amount) readings.add(`payments[${n}].amount`, { value: Number(amount.value), start: amount.start, end: amount.end, confidence });
    else if (share && total) readings.add(`payments[${n}].amount`, { value: shareOf(total, share.percent), start: share.start, end: share.end, confidence: confidence - 0.1, doubts: ['FROM_SHARE'] });
  }
}

/** A share of the total in the currency's own units, rounded once, half up. */
function shareOf({ value, decimals }: { value: number; decimals: number }, percent: string): number {
  const minor = BigInt(Math.round(value * 10 ** decimals));
  const hundredths = BigInt(Math.round(Number(percent) * 100));
  return Number((minor * hundredths + 5_000n) / 10_000n) / 10 ** decimals;
}
