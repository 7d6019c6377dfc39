import { parse } from 'csv-parse/sync';
import { windows1252 } from '../content/windows-1252.js';
import { MAX_TEXT, type Reading } from './reading.js';

/** Reads a text, its pages parted by form feeds where it has some. */
export function readPlain(bytes: Uint8Array, reading: Reading): void {
  for (const page of decoded(bytes, reading).split('\f'))
    if (!reading.isFull()) reading.page({ text: page, source: 'text' });
}

/** Reads a CSV: its rows as lines, its cells parted by tabs. What is none is read as the text that it is. */
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
    // Whoever wrote it did not mean cells: it is a text all the same.
    return undefined;
  }
}

/**
 * UTF-8, UTF-16 and, where it is neither, GB 18030, which the Chinese code pages of old are part of, or Windows-1252,
 * which those of western Europe are.
 */
export function decoded(bytes: Uint8Array, reading: Reading): string {
  const encoding = encodingOf(bytes);
  const guessed = GUESSED[encoding];
  if (guessed !== undefined)
    reading.warn('ENCODING_GUESSED', `The text does not say how its signs are written; it was read as ${guessed}.`);
  const read = bytes.subarray(0, MAX_TEXT * 4);
  const text = (
    encoding === 'windows-1252' ? windows1252(Buffer.from(read)) : new TextDecoder(encoding).decode(read)
  ).replaceAll('\u001a', '');
  if (text.length > MAX_TEXT) reading.warn('TEXT_CUT', `Only the first ${MAX_TEXT} signs were read.`);
  return text.slice(0, MAX_TEXT).replaceAll(/\r\n?/g, '\n');
}

const GUESSED: Readonly<Record<string, string>> = { gb18030: 'GB 18030', 'windows-1252': 'Windows-1252' };

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030' | 'windows-1252' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const head = bytes.subarray(0, 4_096);
  // Latin letters and line ends have a zero beside them, before or after.
  const zeros = (odd: number) => head.reduce((sum, byte, i) => sum + (byte === 0 && i % 2 === odd ? 1 : 0), 0);
  if (zeros(1) > head.length / 20) return 'utf-16le';
  if (zeros(0) > head.length / 20) return 'utf-16be';
  if (isValid(bytes, 'utf-8')) return 'utf-8';
  return standsAlone(bytes) || !isValid(bytes, 'gb18030') ? 'windows-1252' : 'gb18030';
}

function isValid(bytes: Uint8Array, encoding: 'utf-8' | 'gb18030'): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** An accented letter stands among plain ones; of a Chinese sign both bytes are beyond ASCII, nearly always. */
function standsAlone(bytes: Uint8Array): boolean {
  const isPlain = (byte: number | undefined): boolean => byte === undefined || byte < 0x80;
  let [all, alone] = [0, 0];
  for (const [i, byte] of bytes.subarray(0, 65_536).entries()) {
    if (isPlain(byte)) continue;
    all += 1;
    if (isPlain(bytes[i - 1]) && isPlain(bytes[i + 1])) alone += 1;
  }
  return alone > all / 2;
}
