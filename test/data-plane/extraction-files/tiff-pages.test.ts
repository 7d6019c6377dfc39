import { expect } from 'chai';
import { seen, type Seen } from '../../support/documents/seen.js';
import {
  deflated,
  lzw,
  packBits,
  predicted,
  strips,
  tiffOf,
  type TiffForm,
  type TiffPicture,
  type TiffTags,
} from '../../support/documents/tiff.js';

const [NONE, RLE, G3, G4, LZW, DEFLATE, OLD_DEFLATE, PACKBITS] = [1, 2, 3, 4, 5, 8, 32_946, 32_773] as const;
const [WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, CMYK] = [0, 1, 2, 3, 5] as const;

/** Odd, so that rows end within a byte and tiles extend beyond the edge. */
const [W, H] = [37, 14];
const isInk = (x: number, y: number): boolean => ((x >> 3) + (y >> 2) * 7) % 5 < 2;
const shade = (x: number, y: number): number => (x * 3 + y * 11 + (isInk(x, y) ? 90 : 0)) & 255;

const dots = (of: (x: number, y: number) => readonly number[], { width = W, height = H } = {}): Buffer =>
  Buffer.from(Array.from({ length: width * height }, (_, i) => of(i % width, Math.floor(i / width))).flat());
const GREY = dots((x, y) => [shade(x, y)]);
/** Rows of samples of fewer than eight bits, most significant bits first. */
const packed = (bits: number, of: (x: number, y: number) => number): Buffer => {
  const rowBytes = Math.ceil((W * bits) / 8);
  const rows = Buffer.alloc(rowBytes * H);
  for (let i = 0; i < W * H; i++) {
    const [x, y] = [i % W, Math.floor(i / W)];
    const at = y * rowBytes + ((x * bits) >> 3);
    rows[at] = (rows[at] ?? 0) | (of(x, y) << (8 - bits - ((x * bits) & 7)));
  }
  return rows;
};
const INK_IS_SET = packed(1, (x, y) => (isInk(x, y) ? 1 : 0));
const wide = (order: 'II' | 'MM', low = 0): Buffer => {
  const rows = Buffer.alloc(GREY.length * 2);
  for (const [i, value] of GREY.entries())
    order === 'II' ? rows.writeUInt16LE(value * 256 + low, i * 2) : rows.writeUInt16BE(value * 256 + low, i * 2);
  return rows;
};
const turned = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.map((byte) => Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2)));

const page = (tags: TiffTags, ...pieces: Buffer[]): TiffPicture => ({
  tags: {
    width: W,
    height: H,
    bits: 8,
    compression: NONE,
    photometric: BLACK_IS_ZERO,
    samples: 1,
    rowsPerStrip: H,
    ...tags,
  },
  pieces,
});
const only = async (picture: TiffPicture, form?: TiffForm): Promise<Seen> => {
  const pages = await seen(tiffOf([picture], form));
  expect(pages).to.have.length(1);
  return pages[0] ?? expect.fail('no page');
};
const expectDots = (
  picture: Seen,
  expected: (x: number, y: number) => number,
  { width = W, height = H, within = 1.5 } = {},
): void => {
  expect([picture.width, picture.height]).to.deep.equal([width, height]);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) expect(picture.shade(x, y), `${x}, ${y}`).to.be.closeTo(expected(x, y), within);
};
const inkOnPaper = (x: number, y: number): number => (isInk(x, y) ? 0 : 255);

describe('the pages of a TIFF', function () {
  this.timeout(180_000); // the first load of the decompression library takes long

  describe('black and white', () => {
    // The strips that libtiff 4.5 creates from these pixels: `tiffcp -c g4`, `-c g3:1d`, `-c g3:2d`, `-c g3:1d:fill`.
    const faxes: readonly (readonly [name: string, tags: TiffTags, strip: string])[] = [
      ['Group 4', { compression: G4 }, 'JqC//iZgn5mC//k1FKg/ABAB'],
      [
        'Group 3, one-dimensional',
        { compression: G3 },
        'ABNQXLgAmoLlwATUFy4AJqC5cAFQCAAqAQAFQCAAqAQAGYLhgAzBcMAGYLhgAzBcMAE1FUGACaiqDA==',
      ],
      [
        'Group 3, two-dimensional',
        { compression: G3, t4: 1 },
        'ABmoLlwAXABmoLlwAXABqAQAFgA1AIACwAcwXDABcAHMFwwAXABmoqgwAXg=',
      ],
      [
        'Group 3, with fill bits',
        { compression: G3, t4: 4 },
        'AAE1BcuAATUFy4ABNQXLgAE1BcuAAVAIAAFQCAABUAgAAVAIAAGYLhgAAZguGAABmC4YAAGYLhgAATUVQYABNRVBgA==',
      ],
    ];
    for (const [name, tags, strip] of faxes) {
      it(`as ${name}`, async () =>
        expectDots(
          await only(page({ bits: 1, photometric: WHITE_IS_ZERO, ...tags }, Buffer.from(strip, 'base64'))),
          inkOnPaper,
        ));
      it(`as ${name}, with white as ink, and reversed bit order`, async () =>
        expectDots(
          await only(page({ bits: 1, fillOrder: 2, ...tags }, turned(Buffer.from(strip, 'base64'))), { order: 'MM' }),
          (x, y) => 255 - inkOnPaper(x, y),
        ));
    }
    it('as a fax without a photometric interpretation', async () => {
      const {
        tags: { photometric: _, ...tags },
        pieces,
      } = page({ bits: 1, compression: G4 }, Buffer.from('JqC//iZgn5mC//k1FKg/ABAB', 'base64'));
      expectDots(await only({ tags, pieces }), inkOnPaper);
    });
    it('as runs only, each row starting at a byte', async () => {
      // 8 white, 8 black; 16 white; 0 white, 16 black: by the table of ITU-T T.4.
      const rows = ['10011000', '10100000', '10101000', '00110101', '00000101', '11000000'].map((bits) =>
        Number.parseInt(bits, 2),
      );
      const picture = await only(
        page({ width: 16, height: 3, bits: 1, compression: RLE, photometric: WHITE_IS_ZERO }, Buffer.from(rows)),
      );
      expectDots(picture, (x, y) => ((y === 0 && x < 8) || y === 1 ? 255 : 0), { width: 16, height: 3 });
    });
    for (const [name, compression, pack] of [
      ['without a predictor', NONE, Buffer.from],
      ['by LZW', LZW, lzw],
      ['by PackBits', PACKBITS, packBits],
    ] as const) {
      it(`compressed by ${name}`, async () =>
        expectDots(
          await only(page({ bits: 1, photometric: WHITE_IS_ZERO, compression }, pack(INK_IS_SET))),
          inkOnPaper,
        ));
    }
    it('compressed by LZW, with reversed bit order', async () =>
      expectDots(
        await only(
          page({ bits: 1, photometric: WHITE_IS_ZERO, compression: LZW, fillOrder: 2 }, turned(lzw(INK_IS_SET))),
        ),
        inkOnPaper,
      ));
  });

  describe('in shades of grey', () => {
    const packings: readonly (readonly [name: string, compression: number, pack: (bytes: Buffer) => Buffer])[] = [
      ['uncompressed', NONE, (bytes) => bytes],
      ['LZW', LZW, lzw],
      ['Deflate', DEFLATE, deflated],
      ['Deflate by its old code', OLD_DEFLATE, deflated],
      ['PackBits', PACKBITS, packBits],
    ];
    for (const [name, compression, pack] of packings) {
      for (const form of [
        { order: 'II' },
        { order: 'MM' },
        { order: 'II', isBig: true },
        { order: 'MM', isBig: true },
      ] as const) {
        it(`${name}, in strips of five rows, ${form.order}${'isBig' in form ? ', BigTIFF' : ''}`, async () =>
          expectDots(
            await only(page({ compression, rowsPerStrip: 5 }, ...strips(GREY, { rowBytes: W, each: 5, pack })), form),
            shade,
          ));
      }
      it(`${name}, in tiles`, async () => {
        const tile = (left: number, top: number) =>
          pack(dots((x, y) => [left + x < W && top + y < H ? shade(left + x, top + y) : 0], { width: 16, height: 16 }));
        expectDots(
          await only(page({ compression, tileWidth: 16, tileHeight: 16 }, tile(0, 0), tile(16, 0), tile(32, 0))),
          shade,
        );
      });
    }
    it('with a predictor', async () => {
      const rows = predicted(GREY, { rowBytes: W, samples: 1 });
      expectDots(await only(page({ compression: LZW, predictor: 2 }, lzw(rows))), shade);
      expectDots(await only(page({ compression: DEFLATE, predictor: 2 }, deflated(rows))), shade);
    });
    it('of four bits, and of two', async () => {
      expectDots(
        await only(
          page(
            { bits: 4 },
            packed(4, (x, y) => shade(x, y) >> 4),
          ),
        ),
        (x, y) => (shade(x, y) >> 4) * 17,
      );
      expectDots(
        await only(
          page(
            { bits: 2 },
            packed(2, (x, y) => shade(x, y) >> 6),
          ),
        ),
        (x, y) => (shade(x, y) >> 6) * 85,
      );
    });
    for (const order of ['II', 'MM'] as const) {
      it(`of sixteen bits, ${order}`, async () => {
        expectDots(await only(page({ bits: 16 }, wide(order)), { order }), shade, { within: 2.5 });
        expectDots(await only(page({ bits: 16, compression: DEFLATE }, deflated(wide(order))), { order }), shade, {
          within: 2.5,
        });
        // The sum of the lower bytes carries into the upper byte.
        expectDots(
          await only(
            page(
              { bits: 16, compression: DEFLATE, predictor: 2 },
              deflated(predicted(wide(order, 201), { rowBytes: W * 2, samples: 1, bytes: 2, order })),
            ),
            { order },
          ),
          shade,
          { within: 2.5 },
        );
      });
    }
    it('of sixteen bits, compressed by LZW, MM', async () =>
      expectDots(await only(page({ bits: 16, compression: LZW }, lzw(wide('MM'))), { order: 'MM' }), shade, {
        within: 2.5,
      }));
    it('with white as zero', async () =>
      expectDots(await only(page({ photometric: WHITE_IS_ZERO }, GREY)), (x, y) => 255 - shade(x, y)));
    it('in one strip without a length', async () => {
      const tiff = tiffOf([page({ stripBytes: [] }, GREY)]);
      expectDots((await seen(tiff))[0] ?? expect.fail('no page'), shade);
    });
  });

  describe('in colours', () => {
    const light = (red: number, green: number, blue: number): number => 0.299 * red + 0.587 * green + 0.114 * blue;
    const colour = (x: number, y: number) => [shade(x, y), shade(y, x), 255 - shade(x, y)] as const;
    const seenColour = (x: number, y: number) => light(...colour(x, y));
    const opacity = (x: number): number => (x % 3) * 127.5;
    const onWhite = (x: number, y: number) => (seenColour(x, y) * opacity(x)) / 255 + 255 - opacity(x);

    it('red, green and blue, with a predictor too', async () => {
      const rows = dots(colour);
      expectDots(await only(page({ bits: [8, 8, 8], samples: 3, photometric: RGB }, rows)), seenColour);
      expectDots(
        await only(
          page(
            { bits: [8, 8, 8], samples: 3, photometric: RGB, compression: LZW, predictor: 2 },
            lzw(predicted(rows, { rowBytes: W * 3, samples: 3 })),
          ),
        ),
        seenColour,
      );
    });
    it('in separate planes: the green one is read', async () => {
      const planes = [0, 1, 2].map((plane) => dots((x, y) => [colour(x, y)[plane] ?? 0]));
      expectDots(
        await only(page({ bits: [8, 8, 8], samples: 3, photometric: RGB, planar: 2 }, ...planes)),
        (x, y) => colour(x, y)[1],
      );
    });
    it('partly transparent, on a white background', async () => {
      const tags = { bits: [8, 8, 8, 8], samples: 4, photometric: RGB };
      expectDots(
        await only(
          page(
            { ...tags, extraSamples: 2 },
            dots((x, y) => [...colour(x, y), opacity(x)]),
          ),
        ),
        onWhite,
        { within: 3 },
      );
      expectDots(
        await only(
          page(
            { ...tags, extraSamples: 1 },
            dots((x, y) => [...colour(x, y).map((value) => (value * opacity(x)) / 255), opacity(x)]),
          ),
        ),
        onWhite,
        { within: 3 },
      );
      expectDots(
        await only(
          page(
            { ...tags, extraSamples: 0 },
            dots((x, y) => [...colour(x, y), opacity(x)]),
          ),
        ),
        seenColour,
        { within: 3 },
      );
    });
    it('grey, partly transparent', async () => {
      const rows = dots((x, y) => [shade(x, y), opacity(x), 77]);
      expectDots(
        await only(page({ bits: [8, 8, 8], samples: 3, extraSamples: [2, 0] }, rows)),
        (x, y) => (shade(x, y) * opacity(x)) / 255 + 255 - opacity(x),
        { within: 3 },
      );
    });
    it('with a palette, of sixteen bits or of eight', async () => {
      const map = (scale: number) =>
        [0, 1, 2].flatMap((part) => Array.from({ length: 256 }, (_, i) => ((i * (part + 1)) & 255) * scale));
      const expected = (x: number, y: number) => light(shade(x, y), (shade(x, y) * 2) & 255, (shade(x, y) * 3) & 255);
      for (const scale of [257, 1])
        expectDots(await only(page({ photometric: PALETTE, palette: map(scale) }, GREY)), expected);
      const four = (i: number) => [i * 4_000, i * 3_000, 0].map((value) => value);
      expectDots(
        await only(
          page(
            {
              bits: 4,
              photometric: PALETTE,
              palette: [0, 1, 2].flatMap((part) => Array.from({ length: 16 }, (_, i) => four(i)[part] ?? 0)),
            },
            packed(4, (x, y) => shade(x, y) >> 4),
          ),
        ),
        (x, y) => light((four(shade(x, y) >> 4)[0] ?? 0) >> 8, (four(shade(x, y) >> 4)[1] ?? 0) >> 8, 0),
      );
    });
    it('of four inks: black is dark, no ink is light', async () => {
      const picture = await only(
        page(
          { bits: [8, 8, 8, 8], samples: 4, photometric: CMYK, compression: PACKBITS },
          packBits(dots((x, y) => [0, 0, 0, isInk(x, y) ? 255 : 0])),
        ),
      );
      expectDots(picture, inkOnPaper, { within: 50 });
    });
  });

  describe('the orientation', () => {
    const corners: readonly (readonly [
      orientation: number,
      seenAt: (x: number, y: number) => readonly [number, number],
    ])[] = [
      [1, (x, y) => [x, y]],
      [2, (x, y) => [W - 1 - x, y]],
      [3, (x, y) => [W - 1 - x, H - 1 - y]],
      [4, (x, y) => [x, H - 1 - y]],
      [5, (x, y) => [y, x]],
      [6, (x, y) => [H - 1 - y, x]],
      [7, (x, y) => [H - 1 - y, W - 1 - x]],
      [8, (x, y) => [y, W - 1 - x]],
    ];
    for (const [orientation, seenAt] of corners) {
      it(`${orientation}`, async () => {
        const picture = await only(page({ orientation, rowsPerStrip: 5 }, ...strips(GREY, { rowBytes: W, each: 5 })));
        expect([picture.width, picture.height]).to.deep.equal(orientation >= 5 ? [H, W] : [W, H]);
        for (let y = 0; y < H; y++)
          for (let x = 0; x < W; x++)
            expect(picture.shade(...seenAt(x, y)), `${x}, ${y}`).to.be.closeTo(shade(x, y), 1.5);
      });
    }
    it('a coarse fax, whose pixels are twice as high as wide, is scaled', async () => {
      const { width, height, shade: at } = await only(page({ xResolution: 204, yResolution: 102 }, GREY));
      expect([width, height]).to.deep.equal([W, H * 2]);
      expect([at(5, 6), at(5, 7)]).to.deep.equal([at(5, 6), at(5, 6)]);
    });
    it('an implausible resolution is ignored', async () =>
      expectDots(await only(page({ xResolution: 1, yResolution: 60_000 }, GREY)), shade));
  });

  it('are read in order, without thumbnails and masks', async () => {
    const plain = (value: number, tags: TiffTags = {}) => page(tags, Buffer.alloc(W * H, value));
    const pages = await seen(
      tiffOf([
        plain(10),
        plain(99, { kind: 1 }),
        plain(20, { kind: 2 }),
        plain(99, { kind: 4 }),
        plain(30, { compression: NONE, width: 7, height: 9, rowsPerStrip: 9 }),
      ]),
    );
    expect(pages.map(({ width, height, shade: at }) => [width, height, Math.round(at(3, 3))])).to.deep.equal([
      [W, H, 10],
      [W, H, 20],
      [7, 9, 30],
    ]);
  });
  it('are scaled down if they have more pixels than character recognition accepts', async () => {
    const [large] = await seen(
      tiffOf([
        page(
          { width: 6_000, height: 4_000, rowsPerStrip: 4_000, compression: DEFLATE },
          deflated(Buffer.alloc(24_000_000, 200)),
        ),
      ]),
    );
    expect((large?.width ?? 0) * (large?.height ?? 0)).to.be.within(11_900_000, 12_100_000);
    expect(large?.shade(2_000, 1_000)).to.be.closeTo(200, 1);
  });
});
