import { parse } from 'csv-parse/sync';
import { windows1252 } from '../content/windows-1252.js';
import { MAX_TEXT, type Reading } from './reading.js';

/** Reads plain text. Form feeds separate pages. */
export function readPlain(bytes: Uint8Array, reading: Reading): void {
  for (const page of decoded(bytes, reading).split('\f'))
    if (!reading.isFull()) reading.page({ text: page, source: 'text' });
}

/** Reads a CSV: rows as lines, cells separated by tabs. Text that is no valid CSV is read as plain text. */
export function readCsvText(bytes: Uint8Array, reading: Reading): void {
  const text = decoded(bytes, reading);
  reading.page({
    text:
      rowsOf(text)
        ?.map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()).join('\t'))
        .join('\n') ?? text,
    source: 'text',
  });
}

function rowsOf(text: string): string[][] | undefined {
  const head = text.slice(0, 20_000);
  const count = (sign: string) => head.split(sign).length;
  const delimiter = [',', ';', '\t'].reduce((most, sign) => (count(sign) > count(most) ? sign : most));
  try {
    return parse(text.slice(0, MAX_TEXT), {
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: false,
      bom: true,
      record_delimiter: ['\r\n', '\n', '\r'],
    });
  } catch {
    // Not CSV: read as plain text.
    return undefined;
  }
}

/**
 * Decodes UTF-8, UTF-16 or, otherwise, GB 18030 (a superset of older Chinese code pages) or Windows-1252 (western
 * Europe).
 */
export function decoded(bytes: Uint8Array, reading: Reading): string {
  const encoding = encodingOf(bytes);
  const guessed = GUESSED[encoding];
  if (guessed !== undefined)
    reading.warn('ENCODING_GUESSED', `The text does not declare its character encoding; it was read as ${guessed}.`);
  const read = bytes.subarray(0, MAX_TEXT * 4);
  const text = (
    encoding === 'windows-1252' ? windows1252(Buffer.from(read)) : new TextDecoder(encoding).decode(read)
  ).replaceAll('\u001a', '');
  if (text.length > MAX_TEXT) reading.warn('TEXT_CUT', `Only the first ${MAX_TEXT} characters were read.`);
  return text.slice(0, MAX_TEXT).replaceAll(/\r\n?/g, '\n');
}

const GUESSED: Readonly<Record<string, string>> = { gb18030: 'GB 18030', 'windows-1252': 'Windows-1252' };

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030' | 'windows-1252' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const head = bytes.subarray(0, 4_096);
  // In UTF-16, Latin letters and line ends have a zero byte before or after them.
  const zeros = (odd: number) => head.reduce((sum, byte, i) => sum + (byte === 0 && i % 2 === odd ? 1 : 0), 0);
  if (zeros(1) > head.length / 20) return 'utf-16le';
  if (zeros(0) > head.length / 20) return 'utf-16be';
  if (isValid(bytes, 'utf-8')) return 'utf-8';
  return looksWestern(bytes) || !isValid(bytes, 'gb18030') ? 'windows-1252' : 'gb18030';
}

function isValid(bytes: Uint8Array, encoding: 'utf-8' | 'gb18030'): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether non-ASCII bytes are mostly isolated, like accented letters. Chinese characters nearly always have two of
 * them.
 */
function looksWestern(bytes: Uint8Array): boolean {
  const isPlain = (byte: number | undefined): boolean => byte === undefined || byte < 0x80;
  let [all, alone] = [0, 0];
  for (const [i, byte] of bytes.subarray(0, 65_536).entries()) {
    if (isPlain(byte)) continue;
    all += 1;
    if (isPlain(bytes[i - 1]) && isPlain(bytes[i + 1])) alone += 1;
  }
  return alone > all / 2;
}
