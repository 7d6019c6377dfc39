import { DELIMITERS } from '../../../base/csv/marks.js';
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

/** The encodings of files that a program reads; a text in a request is Unicode already. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'gb18030'] as const;

/** One of several characters, which may be blank. */
export const mark = <const V extends readonly string[]>(values: V, about?: string) =>
  Type.Unsafe<V[number]>({ ...s.enum(values, about), 'x-verbatim': true });

/** The format of a CSV file, in which its rejected rows are returned. */
export const CsvFormat = s.object({
  delimiter: mark(DELIMITERS),
  byteOrderMark: s.flag(),
  encoding: s.nullable(s.enum(ENCODINGS)),
});
export type CsvFormat = Static<typeof CsvFormat>;

/** Rows of cells with a header, from a CSV or a workbook. */
export const Sheet = s.object({
  header: s.list(s.nullable(s.verbatim({ max: 1_000_000 })), MAX_COLUMNS),
  /** `row` is the number of the record in the file: the header is 1, and line breaks in cells do not count. */
  records: s.list(s.object({ row: s.integer({ min: 1 }), cells: s.list(cell, MAX_COLUMNS) }), MAX_IMPORT_ROWS),
  /** The positions of blank rows. */
  blank: s.list(s.integer({ min: 1 }), MAX_IMPORT_ROWS),
  /** The format of a CSV file; `null` for a workbook. */
  csv: s.nullable(CsvFormat),
  /** Serial dates count from 1904. */
  date1904: s.flag(),
});
export type Sheet = Static<typeof Sheet>;
