import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { yielding } from '../yielding.js';
import { BYTE_ORDER_MARK, DELIMITERS, type Delimiter } from './marks.js';

/** Bytes that are parsed at once; each byte may be a row. */
const PIECE = 16 * 1024;

/** The rows of a CSV file, all of them, and how it is written. */
export interface CsvRows {
  readonly rows: readonly (readonly string[])[];
  readonly format: { readonly delimiter: Delimiter; readonly byteOrderMark: boolean };
}

/** The most columns and rows, blank ones included. */
export interface CsvLimits {
  readonly columns: number;
  readonly rows: number;
}

/** Thrown with the reason, which does not quote the file. */
export class UnreadableCsv extends Error {
  override readonly name = 'UnreadableCsv';
}

/** Thrown when a file has more rows than its limit. */
export class TooManyCsvRows extends Error {
  override readonly name = 'TooManyCsvRows';
}

/**
 * Reads the rows of a CSV file (RFC 4180), with or without a byte order mark, with any line ending, and with commas,
 * semicolons or tabs as separators, whichever is most frequent in the header. Throws `UnreadableCsv` or
 * `TooManyCsvRows`. It needs little besides the parser, so that a thread that reads a file starts quickly.
 */
export async function readCsvRows(text: string, limits: CsvLimits): Promise<CsvRows> {
  const byteOrderMark = text.startsWith(BYTE_ORDER_MARK);
  const plain = byteOrderMark ? text.slice(1) : text;
  const delimiter = delimiterOf(plain);
  const bytes = await utf8(plain);
  await refuseWide(bytes, delimiter.charCodeAt(0), limits);
  const parser = Readable.from(pieces(bytes), { objectMode: false }).pipe(
    parse({ delimiter, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true, skip_empty_lines: false }),
  );
  const rows: string[][] = [];
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      rows.push(record);
      if (rows.length > limits.rows) throw new TooManyCsvRows();
    }
  } catch (error) {
    throw error instanceof CsvError ? new UnreadableCsv(reasonOf(error), { cause: error }) : error;
  }
  return { rows, format: { delimiter, byteOrderMark } };
}

/** Characters that are encoded at once. */
const STRETCH = 256 * 1024;

async function utf8(text: string): Promise<Buffer> {
  const encoded: Buffer[] = [];
  const pause = yielding();
  for (let at = 0; at < text.length;) {
    // Does not split surrogate pairs.
    const end = at + STRETCH + ((text.charCodeAt(at + STRETCH - 1) & 0xfc00) === 0xd800 ? 1 : 0);
    encoded.push(Buffer.from(text.slice(at, end)));
    at = end;
    await pause();
  }
  return Buffer.concat(encoded);
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  const pause = yielding();
  for (let at = 0; at < bytes.length; at += PIECE) {
    await pause();
    yield bytes.subarray(at, at + PIECE);
  }
}

const [QUOTE, NEWLINE, RETURN] = [0x22, 0x0a, 0x0d] as const;

/** Refuses a row of millions of cells before the parser collects them, which would block the event loop. */
async function refuseWide(bytes: Buffer, delimiter: number, limits: CsvLimits): Promise<void> {
  const pause = yielding();
  let quoted = false;
  let columns = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (!quoted && byte === delimiter) columns += 1;
    else if (!quoted && (byte === NEWLINE || byte === RETURN)) columns = 1;
    if (columns > limits.columns) throw new UnreadableCsv(`it has more than ${limits.columns} columns`);
    if (at % PIECE === 0) await pause();
  }
}

/** The longest header including blank rows before it; further text is not searched for separators. */
const MAX_HEADER = 100_000;

/** The separator of the header cells, outside of quotes; a comma when there is none. */
function delimiterOf(text: string): Delimiter {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  let begun = false;
  for (const character of text.slice(0, MAX_HEADER)) {
    if (character === '"') quoted = !quoted;
    if (quoted) continue;
    const count = counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
    else if (character !== '\n' && character !== '\r') begun ||= character.trim() !== '';
    else if (begun) break;
  }
  return DELIMITERS.reduce<Delimiter>(
    (most, delimiter) => ((counts.get(delimiter) ?? 0) > (counts.get(most) ?? 0) ? delimiter : most),
    ',',
  );
}

/** Describes a parser error without quoting the file, which the parser's own messages do. */
function reasonOf(error: CsvError): string {
  const line: unknown = error['lines'];
  const where = typeof line === 'number' ? `line ${line}: ` : '';
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `${where}a quote is opened and never closed`;
    case 'INVALID_OPENING_QUOTE':
      return `${where}a quote in the middle of a cell; a cell that contains quotes must be quoted, with each quote in it doubled`;
    case 'CSV_INVALID_CLOSING_QUOTE':
      return `${where}text after a closing quote; a quote within a cell must be doubled`;
    default:
      return `${where}it is not readable as CSV`;
  }
}
