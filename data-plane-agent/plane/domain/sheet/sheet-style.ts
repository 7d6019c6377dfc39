import { yielding } from '../../../base/yielding.js';
import type { ImportReading } from '../../contract/records/imports.js';
import type { FieldType } from '../../contract/records/fields.js';
import type { Sheet } from '../../contract/records/sheet.js';
import type { CellKind } from './columns.js';
import { DAY_SAMPLES, dayReadings, type DayEvidence, type DayOrder } from './day-style.js';
import { Tally } from './evidence.js';
import { unguarded } from './guard.js';
import { STYLE_COLUMN, type Target } from './headers.js';
import {
  DECIMAL_MARKS,
  groupMarkIn,
  mayBeThousandsByPoints,
  NUMBER_SAMPLES,
  numberReadings,
  type NumberEvidence,
  type NumberStyle,
} from './number-style.js';

/** The style of the numbers and dates of a file. */
export interface SheetStyle {
  readonly numbers: NumberEvidence;
  readonly days: DayEvidence;
  /** The most frequent thousands separator; `null` if no number has one. */
  readonly groupMark: GroupMark | null;
  readonly date1904: boolean;
}
type GroupMark = NonNullable<ImportReading['groupMark']>;

interface Reading {
  readonly sheet: Sheet;
  readonly targets: readonly (Target | undefined)[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Determines the style of a file from all texts in its number columns and date columns together. Cells that a workbook
 * stores as numbers are no evidence. If no number is evidence and the delimiter is a comma, numbers have decimal
 * points, as programs write them, unless a number like `45.000` may contain thousands. Other delimiters are used with
 * both styles.
 */
export async function styleOf({ sheet, targets, signal }: Reading): Promise<SheetStyle> {
  const numbers = new Tally<NumberStyle>();
  const days = new Tally<DayOrder>();
  const grouped: string[] = [];
  const marked: string[] = [];
  const kinds = targets.map(evidenceKind);
  const pause = yielding(signal);
  for (const { row, cells } of sheet.records) {
    await pause();
    for (const [at, kind] of kinds.entries()) {
      const cell = cells[at];
      if (typeof cell !== 'string' || kind === null || PLAIN.test(cell)) continue;
      const text = unguarded(cell).trim();
      if (kind === 'style') declare(row, text, { numbers, days });
      else if (kind === 'day') days.add(row, dayReadings(text));
      else {
        numbers.add(row, numberReadings(text));
        if (mayBeThousandsByPoints(text)) grouped.push(text);
        if (marked.length < SAMPLED) marked.push(text);
      }
    }
  }
  const byDelimiter = sheet.csv?.delimiter === ',' && grouped.length === 0 ? 'point' : null;
  const evidence = numbers.evidence(byDelimiter);
  return {
    numbers: evidence,
    days: days.evidence(null),
    groupMark: groupMarkOf(marked, evidence.style),
    date1904: sheet.date1904,
  };
}

/** Skips most cells of a number column quickly: they have the same value in every style. */
const PLAIN = /^\d{0,15}$/;
/** The number of texts in which the thousands separator is determined, for the report. */
const SAMPLED = 1_000;

/** Evaluates a cell of the column `read as`, which an earlier import added to the failed rows. */
function declare(
  row: number,
  text: string,
  { numbers, days }: { readonly numbers: Tally<NumberStyle>; readonly days: Tally<DayOrder> },
): void {
  if (text.length > 100) return;
  for (const part of text.split(/\s+/)) {
    if (part === UNKNOWN) numbers.declareUnknown();
    if (part === UNKNOWN_ORDER) days.declareUnknown();
    numbers.declare(row, numberReadings(part));
    days.declare(row, dayReadings(part));
  }
}

/** Instead of a number, in a file with refused ambiguous numbers: rows that are added later must not decide them. */
const UNKNOWN = 'unknown';
/** Likewise for dates: correcting one of two contradicting dates must not decide the refused ambiguous ones. */
const UNKNOWN_ORDER = 'unknown-day-order';

/** The style for which the cells of a column are evidence; `style` for the column that states it. */
export function evidenceKind(target: Target | undefined): 'number' | 'day' | 'style' | null {
  if (!target) return null;
  if (target.kind === 'ignored') return target.name === STYLE_COLUMN ? 'style' : ofKind(target.cells);
  return target.kind === 'custom' ? ofType(target.field.type) : ofKind(target.column.kind);
}

const ofKind = (kind: CellKind | undefined) =>
  kind === 'day' ? kind : kind === undefined || kind === 'text' || kind === 'list' ? null : 'number';
const ofType = (type: FieldType) =>
  type === 'number' || type === 'currency' || type === 'percent' ? 'number' : type === 'date' ? 'day' : null;

function groupMarkOf(texts: readonly string[], style: NumberStyle | null): GroupMark | null {
  const marks = texts.flatMap((text) => (style === null ? [] : (groupMarkIn(text, style) ?? [])));
  const counted = [...Map.groupBy(marks, (mark) => mark)].toSorted(([, a], [, b]) => b.length - a.length);
  return (counted[0]?.[0] as GroupMark | undefined) ?? null; // the regular expression matches only these
}

/** The style of a file, for its report. */
export const readingOf = ({ csv }: Pick<Sheet, 'csv'>, { numbers, days, groupMark }: SheetStyle): ImportReading => ({
  delimiter: csv?.delimiter ?? null,
  encoding: csv?.encoding ?? null,
  // In a file with both styles, a text with two readings is refused, whichever style most cells have.
  decimalMark: numbers.style === null || numbers.isMixed ? null : DECIMAL_MARKS[numbers.style],
  groupMark: numbers.isMixed ? null : groupMark,
  dayOrder: days.isMixed ? null : days.style,
});

/** A number and a date in the style of the file, for the column that states it; empty if the file has none. */
export function sampleOf({ numbers, days }: Pick<SheetStyle, 'numbers' | 'days'>): string {
  const shown = numbers.style !== null && numbers.seen[numbers.style] !== undefined ? numbers.style : null;
  return [
    ...(shown === null ? [] : [NUMBER_SAMPLES[shown]]),
    ...(numbers.style === null && numbers.isNeeded ? [UNKNOWN] : []),
    ...(days.style === null ? [] : [DAY_SAMPLES[days.style]]),
    ...(days.isNeeded && (days.style === null || days.isMixed) ? [UNKNOWN_ORDER] : []),
  ].join(' ');
}
