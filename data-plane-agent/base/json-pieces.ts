import { createHash } from 'node:crypto';
import { yielding } from './yielding.js';

/** About as many characters as are written at once, a fraction of a millisecond. */
const PIECE = 32 * 1024;

/** `JSON.stringify`, which keeps nobody waiting however much there is to write. */
export async function stringifyYielding(value: unknown): Promise<string> {
  const turn = yielding();
  let text = '';
  for (const piece of jsonPieces(value)) {
    text += piece;
    await turn();
  }
  return text;
}

/** The same as UTF-8. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  const turn = yielding();
  const pieces: Buffer[] = [];
  for (const piece of jsonPieces(value)) {
    pieces.push(Buffer.from(piece));
    await turn();
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
}

/** SHA-256, in hex, of the JSON with sorted keys: two spellings of one value are one text. */
export async function canonicalHash(value: unknown): Promise<string> {
  const turn = yielding();
  const hash = createHash('sha256');
  let text = '';
  for (const piece of jsonPieces(value, { sorted: true })) {
    text += piece;
    if (text.length < PIECE) continue;
    hash.update(text);
    text = '';
    await turn();
  }
  return hash.update(text).digest('hex');
}

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
  } else if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (!sorted && weight(value, PIECE) <= PIECE) yield JSON.stringify(value);
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

/** Where a piece may end: not between the halves of a character, which JSON would escape. */
const wholeCharacters = (text: string, end: number): number =>
  end + ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? 1 : 0);

/** About how long the JSON is, looked at only until it is more than `most`. */
function weight(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 6;
  let sum = 2;
  if (Array.isArray(value)) for (let i = 0; i < value.length && sum <= most; i++) sum += weight(value[i], most - sum);
  else {
    for (const key of Object.keys(value)) {
      sum += key.length + weight((value as Readonly<Record<string, unknown>>)[key], most - sum);
      if (sum > most) break;
    }
  }
  return sum;
}
