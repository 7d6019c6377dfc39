import type { Cell, CellKind } from './columns.js';
import { guarded } from './guard.js';

/** Spreadsheets take a file for UTF-8 by this. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The text of a cell. What people typed is guarded against formulas; numbers, days and lists are ours and begin with
 * none.
 */
export function cellText(cell: Cell, kind: CellKind): string {
  if (cell === null) return '';
  return kind === 'text' ? guarded(String(cell)) : String(cell);
}

/** Cells as a part of a row, quoted as RFC 4180 asks. */
export function csvCells(cells: readonly string[]): string {
  let text = '';
  for (const [i, cell] of cells.entries()) {
    if (i > 0) text += ',';
    text += quoted(cell);
  }
  return text;
}

export const csvRow = (cells: readonly string[]): string => csvCells(cells) + END_OF_ROW;

export const END_OF_ROW = '\r\n';

const SPECIAL = /[",\r\n]/;

const quoted = (cell: string): string => (SPECIAL.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
