import type { SheetCell } from '../../contract/records/sheet.js';
import { cellContent, dayOfSerial } from './cells.js';
import { dayReadings } from './day-style.js';
import { hasSeveralValues, readByEvidence } from './evidence.js';
import { unguarded } from './guard.js';
import { numberAlone, numberReadings } from './number-style.js';
import type { SheetStyle } from './sheet-style.js';

/**
 * An unambiguous text for a cell whose value was decided by other cells or by the file format; it has the same value in
 * any other file. `undefined` for cells that are unambiguous or that the file does not decide: these are kept as sent.
 */
export function settledText(
  cell: SheetCell,
  kind: 'number' | 'day' | 'style' | null,
  style: SheetStyle,
): string | undefined {
  if (typeof cell === 'number') return ofNumber(cell, kind, style);
  if (typeof cell !== 'string') return undefined;
  const text = unguarded(cell);
  if (kind === 'number') {
    const readings = numberReadings(text);
    const read = readByEvidence(readings, style.numbers);
    return read.ok && hasSeveralValues(readings) ? numberAlone(read.value, style.numbers.style ?? 'point') : undefined;
  }
  if (kind !== 'day') return undefined;
  const readings = dayReadings(text);
  const read = readByEvidence(readings, style.days);
  return read.ok && hasSeveralValues(readings) ? read.value : undefined;
}

/** A workbook stores dates and numbers as numbers; they are written in the style of its texts. */
function ofNumber(cell: number, kind: 'number' | 'day' | 'style' | null, style: SheetStyle): string | undefined {
  const content = cellContent(cell);
  if (!content.ok) return undefined;
  if (kind === 'number') return numberAlone(Number(content.value), style.numbers.style ?? 'point');
  return kind === 'day' ? (dayOfSerial(cell, style) ?? content.value) : content.value;
}
