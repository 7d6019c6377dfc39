import type { CsvFormat } from '../../contract/records/sheet.js';
import type { Cell, CellKind } from './columns.js';
import { guarded } from './guard.js';

/**
 * The text of a cell. Texts are guarded against formulas; numbers, days and lists are generated and cannot begin one.
 */
export function cellText(cell: Cell, kind: CellKind): string {
  if (cell === null) return '';
  return kind === 'text' ? guarded(String(cell)) : String(cell);
}

/**
 * Cells as part of a row, quoted according to RFC 4180. They are joined in one step: a text that grows cell by cell is
 * copied once more, bit by bit, when it is encoded.
 */
export function csvCells(cells: readonly string[], delimiter: CsvFormat['delimiter'] = ','): string {
  return cells.map((cell) => quoted(cell, delimiter)).join(delimiter);
}

export const csvRow = (cells: readonly string[]): string => csvCells(cells) + END_OF_ROW;

export const END_OF_ROW = '\r\n';

const SPECIAL = /[",\r\n]/;

const quoted = (cell: string, delimiter: string): string =>
  SPECIAL.test(cell) || (delimiter !== ',' && cell.includes(delimiter)) ? `"${cell.replaceAll('"', '""')}"` : cell;
