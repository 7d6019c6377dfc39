import { s, type Static } from '../../../base/schema.js';
import Type from 'typebox';

/** Rows below the header that one import takes. */
export const MAX_IMPORT_ROWS = 5_000;
export const MAX_COLUMNS = 500;

/** What a cell held, as it came: of a workbook also numbers and flags; days are texts. `null` is an empty cell. */
export type SheetCell = string | number | boolean | null;
/**
 * Checked lightly, as a sheet has hundreds of thousands: what a cell may hold is said for each column where it is read.
 */
const cell = Type.Unsafe<SheetCell>({ type: ['string', 'number', 'boolean', 'null'], 'x-verbatim': true });

/** Rows of cells under a header, out of a CSV or a workbook. */
export const Sheet = s.object({
  header: s.list(s.nullable(s.verbatim({ max: 1_000_000 })), MAX_COLUMNS),
  /** `row` is where the record stands in the file: the header is 1, whatever lines a cell has. */
  records: s.list(s.object({ row: s.integer({ min: 1 }), cells: s.list(cell, MAX_COLUMNS) }), MAX_IMPORT_ROWS),
  /** Where there are blank rows among the others. */
  blank: s.list(s.integer({ min: 1 }), MAX_IMPORT_ROWS),
  /** The file writes decimals with a comma, as one with semicolons between its cells does. */
  decimalComma: s.flag(),
  /** Days that are numbers are counted from 1904. */
  date1904: s.flag(),
});
export type Sheet = Static<typeof Sheet>;
