import { fail } from '../../../base/failures.js';
import { MAX_COLUMNS, MAX_IMPORT_ROWS, type Sheet, type SheetCell } from '../../contract/records/sheet.js';

/** Thrown when a file has more rows than an import accepts. */
export class TooManyRows extends Error {
  override readonly name = 'TooManyRows';
}

export const tooWide = () => fail('IMPORT_FILE_INVALID', { reason: `it has more than ${MAX_COLUMNS} columns` });

export const isBlank = (cell: SheetCell | undefined): boolean =>
  cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');

/**
 * Finds the header, which is the first row that is not blank, and the records below it. Blank rows at the end are
 * ignored.
 */
export function sheetOf(rows: readonly (readonly SheetCell[])[], kind: Pick<Sheet, 'csv' | 'date1904'>): Sheet {
  const last = rows.findLastIndex((cells) => !cells.every(isBlank));
  const first = rows.findIndex((cells) => !cells.every(isBlank));
  const header = rows[first];
  if (!header) throw fail('IMPORT_FILE_INVALID', { reason: 'it has no header' });
  if (last - first > MAX_IMPORT_ROWS) throw new TooManyRows();
  if (rows.some((cells) => cells.length > MAX_COLUMNS)) throw tooWide();
  const records: Sheet['records'] = [];
  const blank: number[] = [];
  for (let at = first + 1; at <= last; at++) {
    const cells = rows[at] ?? [];
    if (cells.every(isBlank)) blank.push(at + 1);
    else records.push({ row: at + 1, cells: [...cells] });
  }
  return { header: header.map((cell) => (isBlank(cell) ? null : String(cell))), records, blank, ...kind };
}
