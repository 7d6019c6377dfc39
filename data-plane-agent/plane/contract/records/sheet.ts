import { s, type Static } from '../../../base/schema.js';
import Type from 'typebox';

/** The maximum number of rows of one import, without the header. */
export const MAX_IMPORT_ROWS = 5_000;
export const MAX_COLUMNS = 500;

/** The value of a cell: in a workbook also numbers and flags; days are texts. `null` is an empty cell. */
export type SheetCell = string | number | boolean | null;
/**
 * Only the type is checked, since a sheet has hundreds of thousands of cells; the values are validated per column
 * later.
 */
const cell = Type.Unsafe<SheetCell>({ type: ['string', 'number', 'boolean', 'null'], 'x-verbatim': true });

/** Rows of cells with a header, from a CSV or a workbook. */
export const Sheet = s.object({
  header: s.list(s.nullable(s.verbatim({ max: 1_000_000 })), MAX_COLUMNS),
  /** `row` is the number of the record in the file: the header is 1, and line breaks in cells do not count. */
  records: s.list(s.object({ row: s.integer({ min: 1 }), cells: s.list(cell, MAX_COLUMNS) }), MAX_IMPORT_ROWS),
  /** The positions of blank rows. */
  blank: s.list(s.integer({ min: 1 }), MAX_IMPORT_ROWS),
  /** The file uses decimal commas, as CSV files with semicolons do. */
  decimalComma: s.flag(),
  /** Serial dates count from 1904. */
  date1904: s.flag(),
});
export type Sheet = Static<typeof Sheet>;
