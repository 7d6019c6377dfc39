import { dayFromSerial, type Day } from '../../../base/day.js';
import { beyond } from '../../../base/json-limits.js';
import { normal } from '../../../base/text.js';
import type { SheetCell } from '../../contract/records/sheet.js';
import { plainNumber } from '../fields/numbers.js';
import type { CellKind } from './columns.js';
import { NO_DAY, readDay } from './day-style.js';
import { unguarded } from './guard.js';
import { NO_NUMBER, readNumber, type Decimals } from './number-style.js';
import { isBlank } from './sheet.js';
import type { SheetStyle } from './sheet-style.js';

/** The value of a cell, or the problem as the end of a sentence that begins with the column name. */
export type ReadCell =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** How the numbers and days of the cell's file are read. */
type CellStyle = Pick<SheetStyle, 'numbers' | 'days' | 'date1904'>;

/** Converts a cell to a request value; `undefined` for an empty cell. */
export function readCell(cell: SheetCell, kind: CellKind, style: CellStyle): ReadCell {
  if (isBlank(cell)) return { ok: true, value: undefined };
  const text = cellContent(cell);
  if (!text.ok) return text;
  switch (kind) {
    case 'text':
      return text;
    case 'number':
    case 'amount':
    case 'whole':
    case 'percent':
      return typeof cell === 'number' ? { ok: true, value: cleanNumber(cell) } : numberOf(text.value, style, kind);
    case 'day':
      return dayOf(typeof cell === 'number' ? cell : text.value, style);
    case 'list':
      return listOf(text.value);
  }
}

/** A cell as text, without the apostrophe that guards against formulas. */
export function cellContent(
  cell: SheetCell,
): { readonly ok: true; readonly value: string } | { readonly ok: false; readonly problem: string } {
  if (typeof cell === 'number') {
    // Long account and serial numbers must not be accepted after a spreadsheet has rounded them to 15 digits.
    if (!Number.isFinite(cell) || Math.abs(cell) >= 1e15)
      return wrong(
        'is stored as a number with more than 15 digits, which a spreadsheet cannot keep exactly; format the cell as text',
      );
    return { ok: true, value: plainNumber(cleanNumber(cell)) };
  }
  const text = unguarded(String(cell ?? ''));
  return FORMULA_ERROR.test(text.trim())
    ? wrong('is the error of a formula, or a formula that was never calculated')
    : { ok: true, value: text };
}

const FORMULA_ERROR = /^#(?:NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A|SPILL!|CALC!|GETTING_DATA)$/;

/** Spreadsheets calculate with 15 digits; rounds off errors such as that of 0.1 + 0.2. */
const cleanNumber = (value: number): number => Number(value.toPrecision(15));

/** In UTF-16 units, including symbols around the number. */
const LONGEST_NUMBER = 200;

const CURRENCY = /[\p{Sc}\p{L}]/u;

const DECIMALS = { number: 'any', amount: 'currency', whole: 0, percent: 0 } as const satisfies Partial<
  Record<CellKind, Decimals>
>;

function numberOf(cell: string, { numbers }: CellStyle, kind: keyof typeof DECIMALS): ReadCell {
  const plain = normal(cell.trim(), { max: LONGEST_NUMBER, form: 'NFKC' });
  if (!plain.ok) return wrong(NO_NUMBER);
  const text = kind === 'percent' ? withoutPercent(plain.text) : plain.text.trim();
  if (CURRENCY.test(text)) return wrong('must be a number alone, without a currency or unit');
  return text.includes('%') ? wrong(NO_NUMBER) : readNumber(text, numbers, DECIMALS[kind]);
}

/** `13%` as `13`. NFKC also converts the full-width sign. */
export const withoutPercent = (text: string): string => text.trim().replace(/\s*[%％]$/, '');

/** The difference between the 1900 and the 1904 date systems, in days. */
const DAYS_TO_1904 = 1_462;

/** The day that a workbook stores as a number. */
export const dayOfSerial = (serial: number, { date1904 }: Pick<CellStyle, 'date1904'>): Day | undefined =>
  dayFromSerial(date1904 ? serial + DAYS_TO_1904 : serial);

function dayOf(cell: string | number, style: CellStyle): ReadCell {
  if (typeof cell === 'string') return readDay(cell, style.days);
  const day = dayOfSerial(cell, style);
  return day === undefined ? wrong(NO_DAY) : { ok: true, value: day };
}

const MAX_LIST = 1_000_000;
/**
 * Limits for JSON lists in a cell: terms and notes are lists of flat records, and deeply nested values cannot be copied
 * safely.
 */
const LIST_LIMITS = { levels: 8, values: 20_000, keys: 1_000 };

function listOf(cell: string): ReadCell {
  if (cell.length > MAX_LIST) return wrong(`must have at most ${MAX_LIST} characters`);
  const limit = beyond(cell, LIST_LIMITS)?.limit;
  if (limit) return wrong(`must have at most ${LIST_LIMITS[limit]} ${limit}`);
  try {
    const list: unknown = JSON.parse(cell);
    return Array.isArray(list) ? { ok: true, value: list } : wrong('must be a list as JSON');
  } catch (error) {
    if (error instanceof SyntaxError) return wrong('must be a list as JSON');
    throw error;
  }
}

const wrong = (problem: string) => ({ ok: false, problem }) as const;
