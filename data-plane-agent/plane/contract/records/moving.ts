import { s, type Static } from '../../../base/schema.js';

/** How many bytes of a file one request carries. In the request they are written in base64. */
export const FILE_PART_BYTES = 4 * 1024 * 1024;
/** How many parts a file may have: 40 GB. */
export const MOST_PARTS = 10_000;
/** Files of one page. */
export const FILES_AT_ONCE = 200;

/** The id of a move: both data planes know the move in which they take part, and refuse steps of another one. */
export const moveId = () => s.id('The id of the move.');
export const tableName = () => s.text({ max: 64, about: 'A table of the tenant database.' });
/**
 * JSON as text, so that values are neither trimmed nor normalised on the way: the key of a row as a list of the values
 * of its key columns.
 */
export const rowKey = () => s.verbatim({ max: 20_000, about: 'The key of a row: a JSON list of its values.' });
/** The rows of a page have at most 500 000 characters, which JSON may write as up to six each. */
export const rowList = () =>
  s.verbatim({ max: 16_000_000, about: 'Rows: a JSON list of lists of values, in the order of the columns.' });
export const longText = () => s.verbatim({ max: 2_000_000, about: 'A piece of a long text of a row.' });
export const position = () => s.integer({ max: Number.MAX_SAFE_INTEGER });
export const hash = () => s.text({ max: 64, about: 'SHA-256 in hex.' });

/** A text of the last row of a page that does not fit, and how many characters the page has of it. */
export const CutText = s.object({ column: s.text({ max: 64 }), from: position() });

/** A file whose bytes are moved. */
export const FileToMove = s.object({ id: s.id(), sizeBytes: position() });
export type FileToMove = Static<typeof FileToMove>;

/** What is stored of a file; `null` if there are no bytes. */
export const StoredBytes = s.object({ sizeBytes: position(), sha256: s.nullable(hash()) });
export type StoredBytes = Static<typeof StoredBytes>;
