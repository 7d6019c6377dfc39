import { fail } from '../../../base/failures.js';
import { mapYielding } from '../../../base/yielding.js';
import { MAX_COLUMNS, MAX_IMPORT_ROWS, type Sheet, type SheetCell } from '../../contract/records/sheet.js';

/** Thrown when a file has more rows than an import accepts. */
export class TooManyRows extends Error {
  override readonly name = 'TooManyRows';
}

export const isBlank = (cell: SheetCell | undefined): boolean =>
  cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');

const isBlankRow = (cells: readonly SheetCell[]): boolean => cells.every(isBlank);

/** As `sheetOf`, for files of megabytes: yields to the event loop. */
export const sheetYielding = async (
  rows: readonly (readonly SheetCell[])[],
  kind: Pick<Sheet, 'csv' | 'date1904'>,
): Promise<Sheet> => sheetOf(rows, kind, await mapYielding(rows, isBlankRow));

/**
 * Finds the header, which is the first row that is not blank, and the records below it. Blank rows at the end are
 * ignored.
 */
export function sheetOf(
  rows: readonly (readonly SheetCell[])[],
  kind: Pick<Sheet, 'csv' | 'date1904'>,
  isEmpty: readonly boolean[] = rows.map(isBlankRow),
): Sheet {
  const last = isEmpty.lastIndexOf(false);
  const first = isEmpty.indexOf(false);
  const header = rows[first];
  if (!header) throw fail('IMPORT_FILE_INVALID', { reason: 'it has no header' });
  if (last - first > MAX_IMPORT_ROWS) throw new TooManyRows();
  if (rows.some((cells) => cells.length > MAX_COLUMNS))
    throw fail('IMPORT_FILE_INVALID', { reason: `it has more than ${MAX_COLUMNS} columns` });
  const records: Sheet['records'] = [];
  const blank: number[] = [];
  for (let at = first + 1; at <= last; at++) {
    if (isEmpty[at]) blank.push(at + 1);
    else records.push({ row: at + 1, cells: [...(rows[at] ?? [])] });
  }
  return { header: header.map((cell) => (isBlank(cell) ? null : String(cell))), records, blank, ...kind };
}
