import { createHash } from 'node:crypto';
import { yielding } from './yielding.js';

/** The approximate number of characters of a piece. */
const PIECE = 32 * 1024;
/** Of a value that is written at once, in a fraction of a millisecond: in pieces it takes twice as long. */
const AT_ONCE = 4 * PIECE;

/** `JSON.stringify` that regularly yields to the event loop. */
export async function stringifyYielding(value: unknown): Promise<string> {
  if (isShort(value)) return jsonOf(value);
  const yieldIfDue = yielding();
  let text = '';
  for (const piece of jsonPieces(value)) {
    text += piece;
    await yieldIfDue();
  }
  return text;
}

/** As `stringifyYielding`, in UTF-8. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  if (isShort(value)) return Buffer.from(jsonOf(value));
  const yieldIfDue = yielding();
  const encoded: Buffer[] = [];
  let text = '';
  for (const piece of jsonPieces(value)) {
    text += piece;
    if (text.length < PIECE) continue;
    encoded.push(Buffer.from(text));
    text = '';
    await yieldIfDue();
  }
  // One buffer for small pieces: making one for each takes longer than encoding it.
  if (text !== '') encoded.push(Buffer.from(text));
  return encoded.length === 1 && encoded[0] ? encoded[0] : Buffer.concat(encoded);
}

/** SHA-256, in hex, of the JSON with sorted keys, so that equal values have equal hashes. */
export async function canonicalHash(value: unknown): Promise<string> {
  const yieldIfDue = yielding();
  const hash = createHash('sha256');
  let text = '';
  for (const piece of jsonPieces(value, { sorted: true })) {
    text += piece;
    if (text.length < PIECE) continue;
    hash.update(text);
    text = '';
    await yieldIfDue();
  }
  return hash.update(text).digest('hex');
}

/** What is written at once needs no generator, which most values are too short for. */
const isShort = (value: unknown): boolean => weight(value, AT_ONCE) <= AT_ONCE;

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** The JSON of plain values, piece by piece. */
export function* jsonPieces(value: unknown, { sorted = false } = {}): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE) {
    yield '"';
    for (let at = 0; at < value.length;) {
      const end = wholeCharacters(value, at + PIECE);
      yield JSON.stringify(value.slice(at, end)).slice(1, -1);
      at = end;
    }
    yield '"';
  } else if (typeof value !== 'object' || value === null) yield jsonOf(value);
  else if (isShort(value)) yield sorted ? sortedJson(value) : JSON.stringify(value);
  else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      yield i === 0 ? '[' : ',';
      yield* jsonPieces(item, { sorted });
    }
    yield value.length === 0 ? '[]' : ']';
  } else {
    const entries = Object.entries(value).filter(([, child]) => sorted || child !== undefined);
    if (sorted) entries.sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [i, [key, child]] of entries.entries()) {
      yield `${i === 0 ? '{' : ','}${JSON.stringify(key)}:`;
      yield* jsonPieces(child, { sorted });
    }
    yield entries.length === 0 ? '{}' : '}';
  }
}

/** A short value at once: a generator for each of its parts takes several times as long. */
function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return jsonOf(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const texts = Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedJson(fields[key])}`);
  return `{${texts.join(',')}}`;
}

/** Where a piece may end: not inside a surrogate pair, whose halves JSON would escape. */
const wholeCharacters = (text: string, end: number): number =>
  end + ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? 1 : 0);

/** The approximate length of the JSON; stops counting beyond `most`. */
export function weight(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 6;
  let sum = 2;
  if (Array.isArray(value)) for (let i = 0; i < value.length && sum <= most; i++) sum += weight(value[i], most - sum);
  else {
    for (const key in value) {
      const part = (value as Readonly<Record<string, unknown>>)[key];
      sum += key.length;
      // Most parts are texts, and a call for each takes as long as all the rest.
      sum += typeof part === 'string' ? part.length + 2 : weight(part, most - sum);
      if (sum > most) break;
    }
  }
  return sum;
}

/** Whether all texts in a value, names aside, are Latin-1, so that they take one byte a character in memory. */
export function isLatin(value: unknown): boolean {
  if (typeof value === 'string') return !BEYOND_LATIN.test(value);
  if (typeof value !== 'object' || value === null) return true;
  for (const part of Object.values(value)) if (!isLatin(part)) return false;
  return true;
}

const BEYOND_LATIN = /[\u0100-\uffff]/;
