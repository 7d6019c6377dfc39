import { currencyOf, findAmounts, readAmount } from './amounts.js';
import { findDay } from './dates.js';
import { rawText, trimmed, type Span } from './document.js';
import { conditionOf, isPenalty, type ReadPayment } from './shares.js';
import type { Labelled } from './values.js';
import { MILESTONE, STAGES } from './words/payments.js';

const NUMBERING =
  /^[\s>*"]*(?:\(?(?:[a-h]|\d{1,2}|[一二三四五六七八九十]{1,2}|[ivx]{1,4})[).、:]{1,2}(?!\d) *|[①-⑩] *|[•·-] +)/;

/**
 * Reads a numbered line with one amount and a date or event: `1. Deposit EUR 54,000 due 1 April 2026`. Alone it may be
 * anything; see `planOfAmounts`.
 */
export function numberedAmount(document: Labelled, line: Span): ReadPayment | undefined {
  const end = Math.min(line.end, line.start + 300);
  const text = document.plain.slice(line.start, end);
  const numbering = NUMBERING.exec(text)?.[0];
  if (numbering === undefined || text.includes('%') || isPenalty(text)) return undefined;
  const [amount, other] = findAmounts(document, { from: line.start, to: end, limit: 2 });
  const day = findDay(document.plain, line.start, end);
  if (!amount || other || (!day && !MILESTONE.test(text))) return undefined;
  const start = line.start + numbering.length;
  const lead = document.plain.slice(start, amount.start);
  const currency = / ?(\S{1,4}) ?$/.exec(lead);
  const isCurrency = currency?.[1] !== undefined && currencyOf(currency[1], document) !== undefined;
  const said = trimmed(document, { start, end: isCurrency ? start + currency.index : amount.start });
  const words = /^[^\d:;。]{2,60}?(?= ?[:,-]?$)/.exec(document.plain.slice(said.start, said.end))?.[0];
  const period = words === undefined ? undefined : { start: said.start, end: said.start + words.length };
  const named = period
    ? { ...period, value: rawText(document, period, 100) }
    : conditionOf(document, { start, end }, amount)?.period;
  return (
    named && {
      period: named,
      due: day && { value: day.day, start: day.start, end: day.end },
      amount: { value: amount.value, start: amount.start, end: amount.end },
      share: undefined,
      confidence: 0.78,
    }
  );
}

const STAGE_NUMBER = new RegExp(`^[\\s(\\d).、]*(${STAGES}) ?(?::|为|是)? ?(?=\\d)`);

/** Reads a named instalment whose amount has no currency: `首付款：54000`. */
export function stageWithNumber(document: Labelled, clause: Span): ReadPayment | undefined {
  const lead = STAGE_NUMBER.exec(document.plain.slice(clause.start, Math.min(clause.end, clause.start + 200)));
  const amount = lead && readAmount(document, clause.start + lead[0].length);
  const name = lead?.[1];
  if (!lead || !amount?.isBare || name === undefined || amount.end > clause.end) return undefined;
  const start = clause.start + lead[0].indexOf(name);
  const day = findDay(document.plain, amount.end, clause.end);
  const period = { start, end: start + name.length };
  return {
    period: { ...period, value: rawText(document, period) },
    due: day && { value: day.day, start: day.start, end: day.end },
    amount: { value: amount.value, start: amount.start, end: amount.end },
    share: undefined,
    confidence: 0.78,
  };
}

const DEPOSIT = /^(?:initial |advance )?(?:deposit|advance|down ?payment)$|^(?:预付|定金|订金)/;
const SECURITY = /securit|refund|return|押|退还/;

interface Part {
  readonly payment: ReadPayment;
  readonly isItem?: boolean;
}

/**
 * The parts of a plan of amounts, where some parts (`isItem`) are amounts that may be of other things. All belong to it
 * if they add up to the total; else only a deposit beside named instalments, unless those add up to the total.
 */
export function planOfAmounts<T extends Part>(
  { plain }: Labelled,
  run: readonly T[],
  total: number | undefined,
): readonly T[] {
  const others = run.filter(({ isItem }) => !isItem);
  if (others.length === run.length || isSum(run, total)) return run;
  if (isSum(others, total)) return others;
  return run.filter(({ isItem, payment: { period, amount } }) => {
    const name = plain.slice(period.start, period.end);
    const text = plain.slice(period.start, (amount?.end ?? period.end) + 60).split('\n')[0] ?? '';
    return !isItem || (others.length > 0 && DEPOSIT.test(name) && !SECURITY.test(text));
  });
}

const isSum = (run: readonly Part[], total: number | undefined): boolean =>
  total !== undefined &&
  run.length > 1 &&
  run.every(({ payment: { amount } }) => amount !== undefined) &&
  Math.abs(run.reduce((sum, { payment: { amount } }) => sum + Number(amount?.value), 0) - total) < 0.000_05;
