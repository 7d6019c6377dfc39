import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  documentReader,
  joinedText,
  UnreadableDocument,
  type DocumentReader,
  type DocumentText,
  type ReaderOptions,
} from '../../../data-plane-agent/plane/files/text/index.js';
import {
  deflated,
  lzw,
  predicted,
  strips,
  tiffOf,
  type TiffPicture,
  type TiffTags,
} from '../../support/documents/tiff.js';

const [W, H] = [40, 30];
const DOTS = Buffer.from(Array.from({ length: W * H }, (_, i) => (((i >> 2) ^ (i >> 6)) & 1 ? 255 : 0)));
const page = (tags: TiffTags = {}, pieces: readonly Buffer[] = [DOTS]): TiffPicture => ({
  tags: { width: W, height: H, bits: 8, compression: 1, photometric: 1, samples: 1, rowsPerStrip: H, ...tags },
  pieces,
});
const changed = (bytes: Buffer, at: number, value: number): Buffer => {
  bytes.writeUInt32LE(value, at < 0 ? bytes.length + at : at);
  return bytes;
};
/** 64 by 48 pixels: `heif-enc -q 10` of libheif 1.15 with x265. */
const HEIC = Buffer.from(
  'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAaxtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAAEAAMAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHQAAEAAAAAAAAAagACAAEAAAAAAAAAAQAA' +
    'AAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADXaXBycAAAALVpcGNvAAAAdWh2Y0MBBAgAAAAAAAAAAAAe8AD8/fr6AAAPAyAAAQAXQAEMAf//BAgAAAMAnbgAAAMAAB66AkAhAAEAKkIBAQQIAAADAJ24' +
    'AAADAAAeoCCBBNlurkprm4EBAwIAAAMAAgAAAwACECIAAQAGRAHBc8CJAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAUaXNwZQAAAAAAAABAAAAAMAAAABBwaXhpAAAAAAMKCgoAAAAaaXBtYQAAAAAAAAACAAECgQIAAgIDhAAAABppcmVmAAAAAAAAAA5kaW1nAAIAAQABAAAA' +
    'cm1kYXQAAABmKAGvBBj8hrUxyr93l1WOHiJMt4xvUFCCEvbMZjDnY2UiY47v+fFE+lWjhMhOhYA8Gcri/eTx6uuffc+7uPxjameURAwMbhfPasc4kPBfrWGcufSchvAoubrT/5tqVNgf3U2hyYeA',
  'base64',
);
/** The box that contains the image size. */
const SIZE_AT = HEIC.lastIndexOf('ispe') + 8;
const sized = (dots: number): Buffer => {
  const large = Buffer.from(HEIC);
  large.writeUInt32BE(dots, SIZE_AT);
  large.writeUInt32BE(dots, SIZE_AT + 4);
  return large;
};
const TYPES = { tiff: 'image/tiff', heic: 'image/heic' } as const;

/** Endless directories: each points to the next, and is marked as a thumbnail. */
function thumbnails(count: number): Buffer {
  const each = 18;
  const file = Buffer.alloc(8 + count * each);
  file.write('II*\0', 'latin1');
  file.writeUInt32LE(8, 4);
  for (let i = 0, at = 8; i < count; i++, at += each) {
    file.writeUInt16LE(1, at);
    file.writeUInt16LE(254, at + 2);
    file.writeUInt16LE(4, at + 4);
    file.writeUInt32LE(1, at + 6);
    file.writeUInt32LE(1, at + 10);
    file.writeUInt32LE(at + each, at + 14);
  }
  return file;
}

/** A readable page, except for this number of unknown tags. */
function withTags(count: number): Buffer {
  const file = tiffOf([page()]);
  const at = file.readUInt32LE(4);
  const own = file.readUInt16LE(at);
  const more = Buffer.alloc(12, Buffer.from('60ea03000100000000000000', 'hex'));
  const directory = Buffer.concat([
    Buffer.alloc(2),
    file.subarray(at + 2, at + 2 + own * 12),
    ...Array.from({ length: count }, () => more),
    Buffer.alloc(4),
  ]);
  directory.writeUInt16LE(own + count);
  return changed(Buffer.concat([file, directory]), 4, file.length);
}

/** The header of a JPEG of this size, without data. */
const jpegHead = (width: number, height: number): Buffer => {
  const frame = Buffer.from('ffd8ffc0000b0800000000010111000000', 'hex');
  frame.writeUInt16BE(height, 7);
  frame.writeUInt16BE(width, 9);
  return frame;
};

describe('hostile or broken TIFFs and HEICs', function () {
  this.timeout(240_000); // the first load of the reader's libraries takes long

  const readers: DocumentReader[] = [];
  const aReader = (options: Partial<ReaderOptions> = {}): DocumentReader => {
    const made = documentReader({ residentBytes: () => process.memoryUsage.rss(), deadlineMs: 60_000, ...options });
    readers.push(made);
    return made;
  };
  const reader = aReader();
  after(() => Promise.all(readers.map((one) => one.close())));

  const read = (bytes: Uint8Array, contentType: string = TYPES.tiff, of = reader): Promise<DocumentText> =>
    of.textOf(Readable.from([Buffer.from(bytes)]), { contentType, signal: new AbortController().signal });
  const outcome = async (bytes: Uint8Array, contentType?: string, of?: DocumentReader): Promise<string> =>
    read(bytes, contentType, of).then(
      ({ warnings }) => ['read', ...warnings.map(({ code }) => code)].join(' '),
      (error: unknown) => {
        if (!(error instanceof UnreadableDocument)) throw error;
        // The reader reported the error, and its thread survived.
        expect(error.message).to.not.match(/caused its reader to fail/);
        return error.code;
      },
    );

  const tiffs: readonly (readonly [what: string, outcome: string, bytes: () => Uint8Array])[] = [
    ['nothing', 'damaged', () => Buffer.alloc(0)],
    ['only its first bytes', 'damaged', () => Buffer.from('II*\0')],
    ['that is a PNG', 'damaged', () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['no page', 'damaged', () => changed(tiffOf([page()]), 4, 0)],
    ['only thumbnails', 'damaged', () => tiffOf([page({ kind: 1 })])],
    ['a first page outside of the file', 'damaged', () => changed(tiffOf([page()]), 4, 0x7fffffff)],
    [
      'pages that form a cycle',
      'damaged',
      () => {
        const file = tiffOf([page({ kind: 1 }), page({ kind: 1 })]);
        return changed(file, -4, file.readUInt32LE(4));
      },
    ],
    ['a million thumbnails', 'damaged', () => thumbnails(1_000_000)],
    ['a page with more tags than the file contains', 'damaged', () => withTags(2_000)],
    [
      'a page whose tags extend beyond the file',
      'damaged',
      () => Buffer.from('49492a0008000000e703'.padEnd(200, '0'), 'hex'),
    ],
    [
      'a BigTIFF with more tags than a number can represent',
      'damaged',
      () => Buffer.from('49492b00080000001000000000000000ffffffffffffffff'.padEnd(200, '0'), 'hex'),
    ],
    ['no size', 'damaged', () => tiffOf([page({ width: 0 })])],
    ['a hundred thousand pixels each way', 'too_large', () => tiffOf([page({ width: 100_000, height: 100_000 })])],
    ['the maximum width', 'too_large', () => tiffOf([page({ width: 0xffffffff, height: 0xffffffff })])],
    [
      'tiles of a hundred thousand pixels each way',
      'too_large',
      () => tiffOf([page({ compression: 8, tileWidth: 100_000, tileHeight: 100_000 })]),
    ],
    ['tiles of size zero', 'damaged', () => tiffOf([page({ tileWidth: 0, tileHeight: 0 })])],
    [
      'tiles of one pixel',
      'too_large',
      () => tiffOf([page({ width: 5_000, height: 5_000, tileWidth: 1, tileHeight: 1 })]),
    ],
    ['strips without rows', 'damaged', () => tiffOf([page({ rowsPerStrip: 0 })])],
    ['fewer strips than its rows need', 'damaged', () => tiffOf([page({ rowsPerStrip: 1 })])],
    ['strips outside of the file', 'damaged', () => tiffOf([page({ stripOffsets: [0x7fffff00] })])],
    ['strips longer than the file', 'damaged', () => tiffOf([page({ stripBytes: [0x7fffffff] })])],
    ['empty strips', 'damaged', () => tiffOf([page({ stripBytes: [0] })])],
    ['strips shorter than their rows', 'damaged', () => tiffOf([page({ stripBytes: [W * H - 1] })])],
    [
      'more strip offsets than a page can use',
      'damaged',
      () => tiffOf([page({ stripOffsets: Array.from({ length: 100_000 }, () => 8) })]),
    ],
    [
      'the first half of the file',
      'damaged',
      () => {
        const file = tiffOf([page(), page()]);
        return file.subarray(0, file.length / 2);
      },
    ],
    [
      'pages at one offset',
      'damaged',
      () =>
        tiffOf(
          Array.from({ length: 40 }, () => page({ stripOffsets: [8] }, [])).map(({ tags, pieces }, i) => ({
            tags: { ...tags, stripBytes: [W * H] },
            pieces: i === 0 ? [DOTS] : pieces,
          })),
        ),
    ],
    ['an unknown colour space', 'unsupported', () => tiffOf([page({ photometric: 32_803 })])],
    ['an unknown compression', 'unsupported', () => tiffOf([page({ compression: 34_712 })])],
    ['floating-point samples', 'unsupported', () => tiffOf([page({ bits: 16, format: 3 })])],
    [
      'LZW as written before 1992',
      'unsupported',
      () => tiffOf([page({ compression: 5 }, [Buffer.from('000155aa', 'hex')])]),
    ],
    [
      'sixteen bits in the other byte order, compressed by LZW',
      'unsupported',
      () => tiffOf([page({ bits: 16, compression: 5 }, [lzw(Buffer.alloc(W * H * 2))])]),
    ],
    [
      'a fax in colour',
      'damaged',
      () => tiffOf([page({ compression: 4, bits: [8, 8, 8], samples: 3, photometric: 2 })]),
    ],
    ['a palette with too few colours', 'damaged', () => tiffOf([page({ photometric: 3, palette: [1, 2, 3] })])],
    [
      'a JPEG with more pixels than its page',
      'too_large',
      () => tiffOf([page({ compression: 7 }, [jpegHead(65_500, 65_500)])]),
    ],
    [
      'endless JPEG tables',
      'damaged',
      () => tiffOf([page({ compression: 7, jpegTables: Buffer.alloc(100_000) }, [jpegHead(W, H)])]),
    ],
    [
      'a JPEG that ends after its header',
      'read PAGE_UNREADABLE',
      () => tiffOf([page({ compression: 7 }, [jpegHead(W, H)])]),
    ],
  ];
  for (const [what, expected, bytes] of tiffs)
    it(`a TIFF, ${what}: ${expected}`, async () => expect(await outcome(bytes())).to.equal(expected));

  const heics: readonly (readonly [what: string, outcome: string, bytes: () => Uint8Array])[] = [
    ['nothing', 'damaged', () => Buffer.alloc(0)],
    ['only its first bytes', 'damaged', () => HEIC.subarray(0, 28)],
    ['the first half of the file', 'damaged', () => HEIC.subarray(0, HEIC.length / 2)],
    ['without an image item', 'damaged', () => HEIC.subarray(0, HEIC.length - 60)],
    ['nine thousand pixels each way', 'too_large', () => sized(9_000)],
    ['a hundred thousand pixels each way', 'too_large', () => sized(100_000)],
  ];
  for (const [what, expected, bytes] of heics)
    it(`a HEIC, ${what}: ${expected}`, async () => expect(await outcome(bytes(), TYPES.heic)).to.equal(expected));
  it('an unmodified HEIC is read', async () => expect(await outcome(HEIC, TYPES.heic)).to.match(/^read/));

  it('a strip that unpacks to far more than its page is aborted, and the next document is read', async () => {
    const small = aReader({ maxGrowth: 500 * 1024 * 1024 });
    expect(
      await outcome(tiffOf([page({ compression: 8 }, [deflated(Buffer.alloc(1_200_000_000))])]), TYPES.tiff, small),
    ).to.equal('too_large');
    expect(joinedText(await read(Buffer.from('still there'), 'text/plain', small))).to.equal('still there');
  });

  it('pages beyond the limit are reported', async () => {
    const { pages, warnings } = await read(tiffOf(Array.from({ length: 60 }, () => page())));
    expect(pages).to.have.length(50);
    expect(warnings.find(({ code }) => code === 'PAGES_LEFT_OUT')?.message).to.match(/page 51 and later/);
  });

  describe('files with random bit errors', () => {
    const rows = predicted(DOTS, { rowBytes: W, samples: 1 });
    const whole: readonly (readonly [name: string, contentType: string, bytes: Buffer, times: number])[] = [
      [
        'a TIFF in strips of LZW',
        TYPES.tiff,
        tiffOf([
          page({ compression: 5, predictor: 2, rowsPerStrip: 8 }, strips(rows, { rowBytes: W, each: 8, pack: lzw })),
        ]),
        100,
      ],
      [
        'a TIFF in tiles of Deflate',
        TYPES.tiff,
        tiffOf([page({ compression: 8, tileWidth: 48, tileHeight: 32 }, [deflated(Buffer.alloc(48 * 32, 90))])], {
          order: 'MM',
          isBig: true,
        }),
        100,
      ],
      [
        'a fax',
        TYPES.tiff,
        tiffOf([
          page({ width: 37, height: 14, bits: 1, compression: 4, photometric: 0, rowsPerStrip: 14 }, [
            Buffer.from('JqC//iZgn5mC//k1FKg/ABAB', 'base64'),
          ]),
        ]),
        100,
      ],
      ['a HEIC', TYPES.heic, HEIC, 100],
    ];
    for (const [name, contentType, bytes, times] of whole) {
      it(`${name}: is read or refused with a reason, ${times} times`, async () => {
        const next = numbersFrom(20_261_122);
        for (let time = 0; time < times; time++) {
          const broken = Buffer.from(bytes);
          const turned = Array.from({ length: 1 + next(4) }, () => ({ at: next(broken.length), bit: next(8) }));
          for (const { at, bit } of turned) broken[at] = (broken[at] ?? 0) ^ (1 << bit);
          expect(await outcome(broken, contentType), JSON.stringify(turned)).to.match(
            /^(read|damaged|unsupported|too_large)/,
          );
        }
      });
    }
  });
});

/** Reproducible pseudo-random integers below the limit. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
