import { UnreadableDocument } from './document-text.js';

/** The tags of one image in a TIFF, by their numbers. */
export interface Directory {
  /** The byte order of the file. */
  readonly isLittleEndian: boolean;
  /** The first value of an unsigned integer tag; `undefined` if it is missing or not an integer. */
  number(tag: number): number | undefined;
  /** The values of a tag, or an empty list. Throws if there are more than `most`. */
  numbers(tag: number, most: number): readonly number[];
  /** The first value of a tag with fractions. */
  fraction(tag: number): number | undefined;
  /** The raw bytes of a tag. */
  bytes(tag: number): Buffer | undefined;
}

/** Each page has one; thumbnails and masks have further ones. */
const MAX_DIRECTORIES = 1_000;
/** The standard defines fewer tags, and programs add some dozens. */
const MAX_TAGS = 1_000;

/** The images of a TIFF or BigTIFF in order. Offsets outside of the file and cycles throw. */
export function* directoriesOf(file: Buffer): Generator<Directory> {
  const numbers = numbersOf(file);
  const version = numbers.whole(2, 2);
  if (version !== CLASSIC && version !== BIG) throw damaged('the file is not a TIFF');
  const wide = version === BIG ? 8 : 4;
  const seen = new Set<number>();
  for (let at = numbers.whole(version === BIG ? 8 : 4, wide); at !== 0;) {
    if (seen.has(at)) throw damaged('the pages of the TIFF form a cycle');
    if (seen.add(at).size > MAX_DIRECTORIES) throw damaged(`the TIFF has more than ${MAX_DIRECTORIES} images`);
    const { directory, end } = directoryAt(numbers, at, wide);
    yield directory;
    at = numbers.whole(end, wide);
  }
}

const [CLASSIC, BIG] = [42, 43] as const;

const damaged = (message: string): UnreadableDocument => new UnreadableDocument('damaged', message);

interface Numbers {
  readonly file: Buffer;
  readonly isLittleEndian: boolean;
  /** An unsigned integer; throws outside of the file. */
  whole(at: number, size: number): number;
}

function numbersOf(file: Buffer): Numbers {
  const isLittleEndian = file.toString('latin1', 0, 2) === 'II';
  return {
    file,
    isLittleEndian,
    whole: (at, size) => {
      if (size === 8) return Number(isLittleEndian ? file.readBigUInt64LE(at) : file.readBigUInt64BE(at));
      return isLittleEndian ? file.readUIntLE(at, size) : file.readUIntBE(at, size);
    },
  };
}

/** Bytes per value by type. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [6, 1],
  [7, 1],
  [8, 2],
  [9, 4],
  [10, 8],
  [11, 4],
  [12, 8],
  [13, 4],
  [16, 8],
  [17, 8],
  [18, 8],
]);
const FRACTION = 5;
/** Types that are no integers: both kinds of fractions, and floating point. */
const PARTS: ReadonlySet<number> = new Set([FRACTION, 10, 11, 12]);

interface Value {
  readonly type: number;
  readonly size: number;
  readonly count: number;
  readonly start: number;
}

function directoryAt(
  numbers: Numbers,
  at: number,
  wide: number,
): { readonly directory: Directory; readonly end: number } {
  const { file, isLittleEndian, whole } = numbers;
  const counted = wide === 8 ? 8 : 2;
  const entries = whole(at, counted);
  if (entries > MAX_TAGS) throw damaged(`an image of the TIFF has more than ${MAX_TAGS} tags`);
  const length = 4 + 2 * wide;
  const values = new Map<number, Value>();
  for (let i = 0; i < entries; i++) {
    const entry = at + counted + i * length;
    const type = whole(entry + 2, 2);
    const count = whole(entry + 4, wide);
    const size = SIZES.get(type);
    // Small values are in the entry itself. Unknown types are skipped, as the standard requires.
    if (size !== undefined)
      values.set(whole(entry, 2), {
        type,
        size,
        count,
        start: count * size <= wide ? entry + 4 + wide : whole(entry + 4 + wide, wide),
      });
  }
  const found = (tag: number): Value | undefined => {
    const value = values.get(tag);
    if (value && value.start + value.count * value.size > file.length)
      throw damaged('the TIFF refers to data beyond its end');
    return value;
  };
  const wholes = (tag: number): Value | undefined => {
    const value = found(tag);
    return value && !PARTS.has(value.type) ? value : undefined;
  };
  return {
    end: at + counted + entries * length,
    directory: {
      isLittleEndian,
      number: (tag) => {
        const value = wholes(tag);
        return value && value.count > 0 ? whole(value.start, value.size) : undefined;
      },
      numbers: (tag, most) => {
        const value = wholes(tag);
        if (!value) return [];
        if (value.count > most) throw damaged('a tag of the TIFF has too many values');
        return Array.from({ length: value.count }, (_, i) => whole(value.start + i * value.size, value.size));
      },
      fraction: (tag) => {
        const value = found(tag);
        return value?.type === FRACTION && value.count > 0
          ? whole(value.start, 4) / whole(value.start + 4, 4)
          : undefined;
      },
      bytes: (tag) => {
        const value = found(tag);
        return value && file.subarray(value.start, value.start + value.count * value.size);
      },
    },
  };
}
