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

/** How the numbers and days of a file are read. */
export interface SheetStyle {
  readonly numbers: NumberEvidence;
  readonly days: DayEvidence;
  /** The most frequent mark between thousands; `null` when no number has one. */
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
 * Decides how a file is read, by all texts in its number columns and its day columns together. Cells that a workbook
 * stores as numbers are numbers and show nothing. When no number shows the style, commas between the cells of a file
 * mean decimal points, as programs write them, unless a number like `45.000` may have been written by a person.
 * Semicolons and tabs show nothing: they come with either style.
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

/** Most cells of a number column; they are the same in every style. */
const PLAIN = /^\d{0,15}$/;
/** Enough texts for the report to name the mark between thousands. */
const SAMPLED = 1_000;

/** The column of an earlier report's rows that says how they are to be read. */
function declare(
  row: number,
  text: string,
  { numbers, days }: { readonly numbers: Tally<NumberStyle>; readonly days: Tally<DayOrder> },
): void {
  if (text.length > 100) return;
  for (const part of text.split(/\s+/)) {
    if (part === UNKNOWN) numbers.declareUnknown();
    numbers.declare(row, numberReadings(part));
    days.declare(row, dayReadings(part));
  }
}

/** In place of a number, in a file whose ambiguous numbers were refused: nothing that is added to it decides them. */
const UNKNOWN = 'unknown';

/** What the cells of a column are evidence of; `style` names the style itself. */
export function evidenceKind(target: Target | undefined): 'number' | 'day' | 'style' | null {
  if (!target) return null;
  if (target.kind === 'ignored') return target.name === STYLE_COLUMN ? 'style' : ofKind(target.cells);
  return target.kind === 'custom' ? ofType(target.field.type) : ofKind(target.column.kind);
}

const ofKind = (kind: CellKind | undefined) => (kind === 'number' || kind === 'day' ? kind : null);
const ofType = (type: FieldType) =>
  type === 'number' || type === 'currency' || type === 'percent' ? 'number' : type === 'date' ? 'day' : null;

function groupMarkOf(texts: readonly string[], style: NumberStyle | null): GroupMark | null {
  const marks = texts.flatMap((text) => (style === null ? [] : (groupMarkIn(text, style) ?? [])));
  const counted = [...Map.groupBy(marks, (mark) => mark)].toSorted(([, a], [, b]) => b.length - a.length);
  return (counted[0]?.[0] as GroupMark | undefined) ?? null; // the expression that finds it allows no other
}

/** How a file was read, for its report. */
export const readingOf = ({ csv }: Pick<Sheet, 'csv'>, { numbers, days, groupMark }: SheetStyle): ImportReading => ({
  delimiter: csv?.delimiter ?? null,
  encoding: csv?.encoding ?? null,
  decimalMark: numbers.style === null ? null : DECIMAL_MARKS[numbers.style],
  groupMark,
  dayOrder: days.style,
});

/** A number and a day in the style that the file has shown, for a column that names it; empty when it has shown none. */
export function sampleOf({ numbers, days }: Pick<SheetStyle, 'numbers' | 'days'>): string {
  const shown = numbers.style !== null && numbers.seen[numbers.style] !== undefined ? numbers.style : null;
  return [
    ...(shown === null ? [] : [NUMBER_SAMPLES[shown]]),
    ...(numbers.style === null && numbers.isNeeded ? [UNKNOWN] : []),
    ...(days.style === null ? [] : [DAY_SAMPLES[days.style]]),
  ].join(' ');
}
