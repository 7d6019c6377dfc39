import { isAmountProblem, toMajor, toMinor } from '../../../base/money.js';
import type { Readings } from './candidates.js';
import { findDay, type ReadDay } from './dates.js';
import { rawText, trimmed, type Span } from './document.js';
import { amountIn } from './goods.js';
import { partsIn, shareIn, WHOLE, type ReadPayment } from './shares.js';
import { columnFor, columnsFor, type Table } from './tables.js';
import { isBlankField, textOf, type Labelled } from './values.js';

const TOTAL = /^(?:合 *计|总 *计|小 *计|共 *计|total|sum|grand)/;
const MAX_PAYMENTS = 600;

/** Reads a payment schedule from a table: instalment, due date, amount or share. */
export function readSchedule(document: Labelled, table: Table): ReadPayment[] {
  const at = {
    period: columnFor(table, 'line:no'),
    due: columnFor(table, 'line:due', 'signDate'),
    amount: columnFor(table, 'line:amount', 'periodicRent', 'totalAmount'),
    share: columnFor(table, 'line:share'),
  };
  const isPlan =
    at.period >= 0 &&
    (at.amount >= 0 || at.share >= 0) &&
    (at.due >= 0 || columnFor(table, 'line:amount') >= 0 || at.share >= 0 || columnFor(table, 'periodicRent') >= 0);
  if (!isPlan || columnFor(table, 'quantity') >= 0) return [];
  const payments: ReadPayment[] = [];
  for (const row of table.rows) {
    if (row.length !== table.columns.length || payments.length >= MAX_PAYMENTS) continue;
    const period = periodOf(document, table, row);
    if (!period) continue;
    const day = dueIn(document, row, at);
    const amount = amountIn(document, { table, row, column: at.amount });
    const shareCell = at.share < 0 ? undefined : row[at.share];
    const share = shareCell && shareIn(document, shareCell);
    if (!amount && !share) continue;
    payments.push({
      period,
      due: day && { value: day.day, start: day.start, end: day.end },
      amount: amount && { value: amount.value, start: amount.start, end: amount.end },
      share,
      confidence: 0.93,
    });
  }
  return payments;
}

/** The date in the column of due dates; without such a column, in one of conditions: `验收后，2026年12月31日前`. */
function dueIn(
  { plain }: Labelled,
  row: readonly Span[],
  at: Readonly<Record<'period' | 'due' | 'amount' | 'share', number>>,
): ReadDay | undefined {
  const others = [at.period, at.amount, at.share];
  const cells = at.due < 0 ? row.filter((_, column) => !others.includes(column)) : row.slice(at.due, at.due + 1);
  for (const { start, end } of cells) {
    const day = findDay(plain, start, end);
    if (day) return day;
  }
  return undefined;
}

/**
 * The name of a row's payment: its stage, or else its number. `undefined` for a row of totals, whose heading may be in
 * any of these columns.
 */
function periodOf(document: Labelled, table: Table, row: readonly Span[]): ReadPayment['period'] | undefined {
  const cells = columnsFor(table, 'line:no').flatMap((column) => row[column] ?? []);
  if (cells.some(({ start, end }) => TOTAL.test(document.plain.slice(start, end)))) return undefined;
  for (const cell of cells) {
    const period = periodIn(document, cell);
    if (period) return period;
  }
  return undefined;
}

/** Labels elsewhere (`Delivery`, `定金`) are the names of stages in a plan, and instalments are often only numbered. */
function periodIn(document: Labelled, cell: Span): ReadPayment['period'] | undefined {
  const bare = trimmed(document, cell);
  if (bare.end - bare.start > 200 || isBlankField(document.plain.slice(bare.start, bare.end))) return undefined;
  const value = rawText(document, bare, 100);
  return value === '' ? undefined : { ...(textOf(document, cell, 100) ?? { ...bare, value }) };
}

/** The total amount of a contract in major units. */
export interface Total {
  readonly value: number;
  readonly currency: string;
}

/** Adds the payments to the readings, in the order of the document. */
export function addPayments(payments: readonly ReadPayment[], readings: Readings, total: Total | undefined): void {
  const computed = total ? amountsOf(payments, total) : [];
  for (const [n, { period, due, amount, share, confidence }] of payments.entries()) {
    const ofShare = computed[n];
    readings.add(`payments[${n}].period`, { value: period.value, start: period.start, end: period.end, confidence });
    if (due) readings.add(`payments[${n}].dueDate`, { value: due.value, start: due.start, end: due.end, confidence });
    if (amount)
      readings.add(`payments[${n}].amount`, {
        value: Number(amount.value),
        start: amount.start,
        end: amount.end,
        confidence,
      });
    else if (share && ofShare !== undefined)
      readings.add(`payments[${n}].amount`, {
        value: ofShare,
        start: share.start,
        end: share.end,
        confidence: confidence - 0.1,
        doubts: ['FROM_SHARE'],
      });
  }
}

/**
 * Converts shares of the total to amounts, each rounded half up to the currency's minor unit. Shares that add up to 100
 * % are rounded down, and the last one is the remainder, so that the amounts add up to the total.
 */
function amountsOf(payments: readonly ReadPayment[], { value, currency }: Total): (number | undefined)[] {
  const whole = toMinor(value, currency);
  if (isAmountProblem(whole)) return [];
  const shares = payments.map(({ share, amount }) => (share && !amount ? partsIn(share) : undefined));
  const isWhole = !shares.includes(undefined) && shares.reduce<number>((sum, share) => sum + (share ?? 0), 0) === WHOLE;
  let left = whole;
  return shares.map((share, n) => {
    if (share === undefined) return undefined;
    const exact = BigInt(whole) * BigInt(share);
    const minor = !isWhole
      ? Number((exact + BigInt(WHOLE / 2)) / BigInt(WHOLE))
      : n === shares.length - 1
        ? left
        : Number(exact / BigInt(WHOLE));
    left -= minor;
    return toMajor(minor, currency);
  });
}
