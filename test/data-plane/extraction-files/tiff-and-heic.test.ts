import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { extract } from '../../../data-plane-agent/plane/domain/extraction/extract.js';
import {
  documentReader,
  joinedText,
  type DocumentReader,
  type DocumentText,
} from '../../../data-plane-agent/plane/files/text/index.js';
import { needsBrowser } from '../../support/browser.js';
import { dotsOf, type Dots } from '../../support/documents/dots.js';
import { ONE_CONTRACT_PAGE, ONE_CONTRACT_SAYS } from '../../support/documents/one-contract.js';
import { printer } from '../../support/documents/printed.js';
import {
  deflated,
  lzw,
  packBits,
  predicted,
  strips,
  tiffOf,
  withSharedTables,
  type TiffPicture,
  type TiffTags,
} from '../../support/documents/tiff.js';

/** The number of rows per strip. */
const EACH = 64;

describe('a contract as TIFF or HEIC', function () {
  this.timeout(240_000); // printing, scanning and recognition take long

  let reader: DocumentReader;
  before(() => (reader = documentReader({ residentBytes: () => process.memoryUsage.rss() })));
  after(() => reader.close());

  const read = (bytes: Buffer, contentType = 'image/tiff'): Promise<DocumentText> =>
    reader.textOf(Readable.from([bytes]), { contentType, signal: new AbortController().signal });
  const fieldsOf = (document: DocumentText) =>
    Object.fromEntries(
      extract(joinedText(document), { currencyCode: 'CNY' }).fields.map(({ fieldKey, value }) => [fieldKey, value]),
    );
  const fixture = (name: string) => readFileSync(new URL(`../../support/documents/pictures/${name}`, import.meta.url));

  // The page of `one-contract.ts` on two sheets, rendered by `printed.ts` without specks, in black and white at 200
  // dpi, then `tiffcp -c g4 -r 4000` of libtiff 4.5.
  it('two faxed sheets: Group 4', async () => {
    const document = await read(fixture('contract-g4.tif'));
    expect(document.pages.map(({ number, source }) => [number, source])).to.deep.equal([
      [1, 'ocr'],
      [2, 'ocr'],
    ]);
    expect(document.pages[0]?.text).to.match(/^EQUIPMENT SALES CONTRACT\n/);
    expect(document.pages[1]?.text).to.match(/^Quantity/);
    expect(fieldsOf(document)).to.include(ONE_CONTRACT_SAYS);
    expect(document.warnings).to.deep.equal([]);
  });

  // The upper part of the same page at 108 dpi, then `heif-enc -q 20` of libheif 1.15 with x265.
  it('a photo from a phone: HEIC', async () => {
    const document = await read(fixture('contract.heic'), 'image/heic');
    expect(document.pages).to.have.length(1);
    expect(fieldsOf(document)).to.include(ONE_CONTRACT_SAYS);
  });

  describe('scanned', () => {
    const browser = needsBrowser();
    let scan: Buffer;
    let dots: Dots;
    before(async () => {
      [scan = Buffer.alloc(0)] = await printer(browser()).scans(ONE_CONTRACT_PAGE);
      dots = await dotsOf(browser(), scan, { scale: 0.5, part: 0.4, rows: EACH });
    });
    const page = (tags: TiffTags, pieces: readonly Buffer[]): TiffPicture => ({
      tags: {
        width: dots.width,
        height: dots.height,
        bits: 8,
        photometric: 1,
        samples: 1,
        rowsPerStrip: EACH,
        ...tags,
      },
      pieces,
    });
    const inStrips = (pack: (bytes: Buffer) => Buffer) => strips(dots.grey, { rowBytes: dots.width, each: EACH, pack });
    const inColour: TiffTags = { compression: 7, bits: [8, 8, 8], samples: 3, photometric: 6 };

    const forms: readonly (readonly [name: string, picture: () => TiffPicture])[] = [
      [
        'LZW with a predictor',
        () =>
          page(
            { compression: 5, predictor: 2 },
            inStrips((bytes) => lzw(predicted(bytes, { rowBytes: dots.width, samples: 1 }))),
          ),
      ],
      ['Deflate', () => page({ compression: 8 }, inStrips(deflated))],
      ['PackBits', () => page({ compression: 32_773 }, inStrips(packBits))],
      ['JPEG', () => page(inColour, dots.jpegs)],
      [
        'JPEG with shared tables',
        () => {
          const { tables, pieces } = withSharedTables(dots.jpegs);
          return page({ ...inColour, jpegTables: tables }, pieces);
        },
      ],
    ];
    for (const [name, picture] of forms)
      it(name, async () => expect(fieldsOf(await read(tiffOf([picture()])))).to.include(ONE_CONTRACT_SAYS));

    it('JPEG in the old format, as one picture', async () => {
      const {
        jpegs: [jpeg = Buffer.alloc(0)],
      } = await dotsOf(browser(), scan, { scale: 0.5, part: 0.4, rows: dots.height });
      // The only strip follows the eight bytes of the TIFF header.
      expect(
        fieldsOf(
          await read(tiffOf([page({ ...inColour, compression: 6, jpegOffset: 8, jpegBytes: jpeg.length }, [jpeg])])),
        ),
      ).to.include(ONE_CONTRACT_SAYS);
    });

    it('rotated by 90 degrees', async () => {
      const { width, height, grey } = dots;
      const turned = Buffer.from(
        Array.from(
          { length: grey.length },
          (_, i) => grey[(height - 1 - (i % height)) * width + Math.floor(i / height)] ?? 0,
        ),
      );
      expect(
        fieldsOf(
          await read(
            tiffOf([
              page({ width: height, height: width, rowsPerStrip: width, orientation: 8, compression: 8 }, [
                deflated(turned),
              ]),
            ]),
          ),
        ),
      ).to.include(ONE_CONTRACT_SAYS);
    });

    it('a page of an unsupported kind is reported, and the others are read', async () => {
      const document = await read(
        tiffOf([page({ compression: 34_712 }, [Buffer.alloc(9)]), page({ compression: 8 }, inStrips(deflated))]),
      );
      expect(document.warnings.map(({ code }) => code)).to.deep.equal(['PAGE_UNREADABLE']);
      expect(document.pages.map(({ number, text }) => [number, text !== ''])).to.deep.equal([
        [1, false],
        [2, true],
      ]);
      expect(fieldsOf(document)).to.include(ONE_CONTRACT_SAYS);
    });
  });
});
