import { deflateSync } from 'node:zlib';

/** The numbers of the TIFF tags used in the tests. */
const TAGS = {
  kind: 254,
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  orientation: 274,
  samples: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  xResolution: 282,
  yResolution: 283,
  planar: 284,
  t4: 292,
  predictor: 317,
  palette: 320,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  extraSamples: 338,
  format: 339,
  jpegTables: 347,
  jpegOffset: 513,
  jpegBytes: 514,
} as const;

export type TiffTags = Readonly<Partial<Record<keyof typeof TAGS, number | readonly number[] | Buffer>>>;

/** An image in a TIFF: its tags; those with the offsets of its parts are added automatically. */
export interface TiffPicture {
  readonly tags: TiffTags;
  /** Strips or tiles, compressed. */
  readonly pieces: readonly Buffer[];
}

export interface TiffForm {
  readonly order?: 'II' | 'MM';
  readonly isBig?: boolean;
}

/** Writes a TIFF in which every number can be set, also to values that no program would write. */
export function tiffOf(pictures: readonly TiffPicture[], { order = 'II', isBig = false }: TiffForm = {}): Buffer {
  const wide = isBig ? 8 : 4;
  const number = (value: number, size: number): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    const taken = bytes.subarray(8 - size);
    return order === 'II' ? Buffer.from(taken).reverse() : taken;
  };
  const parts: Buffer[] = [
    Buffer.from(order),
    number(isBig ? 43 : 42, 2),
    ...(isBig ? [number(8, 2), number(0, 2)] : []),
    number(0, wide),
  ];
  // The position of the offset of the next image.
  let link = parts.length - 1;
  const size = () => parts.reduce((sum, part) => sum + part.length, 0);
  const put = (bytes: Buffer): number => {
    const at = size();
    parts.push(bytes);
    return at;
  };
  for (const { tags, pieces } of pictures) {
    const offsets = pieces.map(put);
    const lengths = pieces.map(({ length }) => length);
    const lie: TiffTags =
      tags.tileWidth === undefined
        ? { stripOffsets: offsets, stripBytes: lengths }
        : { tileOffsets: offsets, tileBytes: lengths };
    const inOrder = Object.entries({ ...lie, ...tags }).toSorted(
      ([a], [b]) => TAGS[a as keyof typeof TAGS] - TAGS[b as keyof typeof TAGS],
    );
    const entries = inOrder.map(([name, value]): Buffer => {
      const values = typeof value === 'number' ? [value] : value;
      const { type, size: each } = Buffer.isBuffer(values)
        ? { type: 7, size: 1 }
        : RATIONALS.has(name)
          ? { type: 5, size: 8 }
          : !WIDE.has(name)
            ? { type: 3, size: 2 }
            : isBig
              ? { type: 16, size: 8 }
              : { type: 4, size: 4 };
      const bytes = Buffer.isBuffer(values)
        ? values
        : Buffer.concat(
            values.map((one) => (type === 5 ? Buffer.concat([number(one, 4), number(1, 4)]) : number(one, each))),
          );
      const lies =
        bytes.length <= wide ? Buffer.concat([bytes, Buffer.alloc(wide - bytes.length)]) : number(put(bytes), wide);
      return Buffer.concat([
        number(TAGS[name as keyof typeof TAGS], 2),
        number(type, 2),
        number(values.length, wide),
        lies,
      ]);
    });
    parts[link] = number(size(), wide);
    parts.push(number(entries.length, isBig ? 8 : 2), ...entries);
    link = parts.push(number(0, wide)) - 1;
  }
  return Buffer.concat(parts);
}

const RATIONALS: ReadonlySet<string> = new Set<keyof typeof TAGS>(['xResolution', 'yResolution']);
const WIDE: ReadonlySet<string> = new Set<keyof typeof TAGS>([
  'kind',
  'width',
  'height',
  'rowsPerStrip',
  'stripOffsets',
  'stripBytes',
  'tileWidth',
  'tileHeight',
  'tileOffsets',
  'tileBytes',
  'jpegOffset',
  'jpegBytes',
]);

/** Splits the image into strips of this many rows, and compresses each. */
export const strips = (
  rows: Buffer,
  { rowBytes, each, pack = (bytes) => bytes }: { rowBytes: number; each: number; pack?: (bytes: Buffer) => Buffer },
): Buffer[] =>
  Array.from({ length: Math.ceil(rows.length / rowBytes / each) }, (_, i) =>
    pack(rows.subarray(i * each * rowBytes, (i + 1) * each * rowBytes)),
  );

/** The horizontal differences of the predictor: each value minus the previous one in its row. */
export function predicted(
  rows: Buffer,
  {
    rowBytes,
    samples,
    bytes = 1,
    order = 'II',
  }: { rowBytes: number; samples: number; bytes?: 1 | 2; order?: 'II' | 'MM' },
): Buffer {
  const out = Buffer.from(rows);
  const step = samples * bytes;
  for (let row = 0; row < rows.length; row += rowBytes) {
    for (let at = row + rowBytes - bytes; at >= row + step; at -= bytes) {
      if (bytes === 1) out[at] = ((rows[at] ?? 0) - (rows[at - step] ?? 0)) & 255;
      else if (order === 'II') out.writeUInt16LE((rows.readUInt16LE(at) - rows.readUInt16LE(at - step)) & 65_535, at);
      else out.writeUInt16BE((rows.readUInt16BE(at) - rows.readUInt16BE(at - step)) & 65_535, at);
    }
  }
  return out;
}

export const deflated = (bytes: Buffer): Buffer => deflateSync(bytes);

/** PackBits: a count and as many bytes, or a negative count and the repeated byte. */
export function packBits(bytes: Buffer): Buffer {
  const out: number[] = [];
  for (let at = 0; at < bytes.length;) {
    let same = 1;
    while (same < 128 && bytes[at + same] === bytes[at]) same += 1;
    if (same > 2) {
      out.push(257 - same, bytes[at] ?? 0);
      at += same;
      continue;
    }
    let apart = 1;
    while (
      apart < 128 &&
      at + apart < bytes.length &&
      (bytes[at + apart] !== bytes[at + apart + 1] || bytes[at + apart] !== bytes[at + apart + 2])
    )
      apart += 1;
    out.push(apart - 1, ...bytes.subarray(at, at + apart));
    at += apart;
  }
  return Buffer.from(out);
}

/** LZW in the variant of TIFF: most significant bit first, and the code length increases one code early. */
export function lzw(bytes: Buffer): Buffer {
  const [CLEAR, END] = [256, 257];
  const out: number[] = [];
  let [held, bits, width] = [0, 0, 9];
  const put = (code: number) => {
    held = (held << width) | code;
    bits += width;
    for (; bits >= 8; bits -= 8) out.push((held >> (bits - 8)) & 255);
    held &= (1 << bits) - 1;
  };
  let table = new Map<number, number>();
  let next = END + 1;
  put(CLEAR);
  let prefix = -1;
  for (const byte of bytes) {
    if (prefix < 0) {
      prefix = byte;
      continue;
    }
    const found = table.get(prefix * 256 + byte);
    if (found !== undefined) {
      prefix = found;
      continue;
    }
    put(prefix);
    table.set(prefix * 256 + byte, next);
    next += 1;
    if (next === 4_094) {
      put(CLEAR);
      [table, next, width] = [new Map(), END + 1, 9];
    } else if (next + 1 > 1 << width) width += 1;
    prefix = byte;
  }
  if (prefix >= 0) put(prefix);
  // The reader's count: one more than was reported.
  if (next + 2 > 1 << width && width < 12) width += 1;
  put(END);
  if (bits > 0) out.push((held << (8 - bits)) & 255);
  return Buffer.from(out);
}

/** Separates the common tables from JPEGs with the same tables. */
export function withSharedTables(jpegs: readonly Buffer[]): {
  readonly tables: Buffer;
  readonly pieces: readonly Buffer[];
} {
  const apart = jpegs.map((jpeg) => {
    const [tables, rest]: [Buffer[], Buffer[]] = [[], []];
    let at = 2;
    while (jpeg[at + 1] !== SCAN) {
      const end = at + 2 + jpeg.readUInt16BE(at + 2);
      (jpeg[at + 1] === QUANTITIES ? tables : rest).push(jpeg.subarray(at, end));
      at = end;
    }
    return {
      tables: Buffer.concat([JPEG_STARTS, ...tables, JPEG_ENDS]),
      piece: Buffer.concat([JPEG_STARTS, ...rest, jpeg.subarray(at)]),
    };
  });
  const [{ tables } = { tables: JPEG_STARTS }] = apart;
  if (apart.some((one) => !one.tables.equals(tables))) throw new Error('these JPEGs have no tables in common');
  return { tables, pieces: apart.map(({ piece }) => piece) };
}

const [SCAN, QUANTITIES] = [0xda, 0xdb] as const;
const [JPEG_STARTS, JPEG_ENDS] = [Buffer.from('ffd8', 'hex'), Buffer.from('ffd9', 'hex')];
