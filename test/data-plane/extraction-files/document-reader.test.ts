import { skip } from '../../support/skip.js';
import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { crc32, deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import {
  documentReader,
  joinedText,
  UnreadableDocument,
  type DocumentReader,
  type ReaderOptions,
} from '../../../data-plane-agent/plane/files/text/index.js';
import { docxOf, docxParts } from '../../support/documents/docx.js';
import { p, table, title } from '../../support/documents/blocks.js';
import { pdfOf, streamOf } from '../../support/documents/pdf.js';
import { xlsxOf } from '../../support/documents/xlsx.js';
import { program } from '../../support/programs.js';
import { root } from '../../support/source.js';
import { largeZip } from '../../support/archives.js';
import { altered } from '../../support/workbook.js';

const TYPES = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  png: 'image/png',
  text: 'text/plain',
  csv: 'text/csv',
};
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

describe('the document reader', function () {
  this.timeout(180_000); // the first load of its libraries takes long

  const readers: DocumentReader[] = [];
  const aReader = (options: Partial<ReaderOptions> = {}): DocumentReader => {
    const reader = documentReader({ residentBytes: () => process.memoryUsage.rss(), ...options });
    readers.push(reader);
    return reader;
  };
  const reader = aReader();
  after(() => Promise.all(readers.map((one) => one.close())));

  const read = (
    bytes: Uint8Array | string,
    contentType: string,
    { of = reader, signal = new AbortController().signal } = {},
  ) => of.textOf(Readable.from([Buffer.from(bytes)]), { contentType, signal });
  const refusal = async (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => 'it was read',
      (error: unknown) => (error instanceof UnreadableDocument ? error.code : error),
    );

  describe('texts', () => {
    const text = '合同编号：甲-1\r\n金额：1元';
    const gb18030 = Buffer.from('bacfcdacb1e0bac5a3bab9', 'hex');
    it('UTF-8, with a byte order mark or without', async () => {
      expect(joinedText(await read(`\ufeff${text}`, TYPES.text))).to.equal('合同编号：甲-1\n金额：1元');
      expect(joinedText(await read(text, 'text/plain; charset=utf-8'))).to.equal('合同编号：甲-1\n金额：1元');
    });
    it('UTF-16 of either order', async () => {
      const little = Buffer.from(`\ufeff${text}`, 'utf16le');
      expect(joinedText(await read(little, TYPES.text))).to.equal('合同编号：甲-1\n金额：1元');
      expect(joinedText(await read(Buffer.from(little).swap16(), TYPES.text))).to.equal('合同编号：甲-1\n金额：1元');
    });
    it('GB 18030, reported as such, if the bytes are not UTF', async () => {
      const { pages, warnings } = await read(Buffer.concat([gb18030.subarray(0, 10), Buffer.from('1')]), TYPES.text);
      expect(pages[0]?.text).to.equal('合同编号：1');
      expect(warnings.map(({ code }) => code)).to.deep.equal(['ENCODING_GUESSED']);
    });
    it('Windows-1252, reported as such, if accented letters stand alone', async () => {
      const { pages, warnings } = await read(
        Buffer.from('K\xe4ufer: M\xfcller & S\xf6hne, Preis 5 \x80\r\n\x1a', 'latin1'),
        TYPES.text,
      );
      expect(pages[0]?.text).to.equal('Käufer: Müller & Söhne, Preis 5 €\n');
      expect(warnings).to.deep.equal([
        {
          code: 'ENCODING_GUESSED',
          message: 'The text does not declare its character encoding; it was read as Windows-1252.',
        },
      ]);
    });
    it('pages separated by form feeds', async () =>
      expect((await read('one\ftwo', TYPES.text)).pages.map(({ number, text: page }) => [number, page])).to.deep.equal([
        [1, 'one'],
        [2, 'two'],
      ]));
    it('a CSV, with cells separated by tabs', async () =>
      expect(joinedText(await read('No;Due;Amount\n1;2026-03-01;"1.000,00"\n', TYPES.csv))).to.equal(
        'No\tDue\tAmount\n1\t2026-03-01\t1.000,00',
      ));
  });

  describe('a DOCX', () => {
    it('paragraphs are lines, and rows of tables lines with tabs', async () => {
      const { pages } = await read(
        docxOf(
          {
            language: 'en',
            blocks: [
              title('Contract'),
              p('No. 7 & more'),
              table([
                ['Item', 'Price'],
                [{ text: 'Two\nlines', across: 1 }, 'USD 5'],
              ]),
            ],
          },
          { header: 'Ref. A-1' },
        ),
        TYPES.docx,
      );
      expect(pages.map(({ text, source }) => ({ text, source }))).to.deep.equal([
        { text: 'Ref. A-1\nContract\nNo. 7 & more\nItem\tPrice\nTwo lines\tUSD 5', source: 'text' },
      ]);
    });
    it('deleted text and hidden text are omitted, and hidden text is reported', async () => {
      const run = (text: string, style = '') => `<w:r>${style}<w:t>${text}</w:t></w:r>`;
      const body = `<w:p>${run('Total ')}<w:del><w:r><w:delText>100</w:delText></w:r></w:del><w:ins>${run('200')}</w:ins>${run(' secret', '<w:rPr><w:vanish/></w:rPr>')}</w:p>`;
      const { pages, warnings } = await read(docxOf({ language: 'en', blocks: [] }, { body }), TYPES.docx);
      expect(pages[0]?.text).to.equal('Total 200');
      expect(warnings.map(({ code }) => code)).to.deep.equal(['HIDDEN_CONTENT']);
    });
    it('numbered paragraphs keep their displayed numbers', async () => {
      const item = (text: string) =>
        `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
      const parts = {
        'word/document.xml': `<w:document ${W}><w:body>${item('租金')}${item('押金')}</w:body></w:document>`,
        'word/numbering.xml': `<w:numbering ${W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="9"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1条"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
      };
      expect((await read(docxParts(parts), TYPES.docx)).pages[0]?.text).to.equal('第九条 租金\n第十条 押金');
    });
  });

  describe('an XLSX', () => {
    it('each sheet is a page with the displayed values of its cells', async () => {
      const { pages } = await read(
        await xlsxOf([
          {
            name: 'a',
            rows: [
              ['Due', 'Share', 'Amount'],
              [new Date(Date.UTC(2026, 2, 1)), 0.3, 1_234_567.5],
            ],
          },
          { name: 'b', rows: [['more']] },
        ]),
        TYPES.xlsx,
      );
      expect(pages.map(({ text }) => text)).to.deep.equal(['Due\tShare\tAmount\n2026-03-01\t30%\t1,234,567.5', 'more']);
    });
    it('hidden sheets are omitted, and reported', async () => {
      const workbook = altered(
        await xlsxOf([
          { name: 'a', rows: [['shown']] },
          { name: 'b', rows: [['hidden']] },
        ]),
        (parts) => ({
          'xl/workbook.xml': (parts['xl/workbook.xml'] ?? '').replace('name="b"', 'name="b" state="hidden"'),
        }),
      );
      const { pages, warnings } = await read(workbook, TYPES.xlsx);
      expect(pages.map(({ text }) => text)).to.deep.equal(['shown']);
      expect(warnings.map(({ code }) => code)).to.deep.equal(['HIDDEN_CONTENT']);
    });
  });

  describe('hostile or broken documents', () => {
    const cases: readonly (readonly [what: string, code: string, contentType: string, bytes: () => Uint8Array])[] = [
      ['an unsupported type', 'unsupported', 'application/zip', () => Buffer.from('PK')],
      [
        'a DOCX that declares entities',
        'damaged',
        TYPES.docx,
        () =>
          docxParts({
            'word/document.xml': `<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document ${W}><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>`,
          }),
      ],
      [
        'a DOCX that unpacks to too much data',
        'too_large',
        TYPES.docx,
        () => largeZip({ 'word/document.xml': new Uint8Array(120 * 1024 * 1024) }),
      ],
      [
        'a DOCX with too many parts',
        'too_large',
        TYPES.docx,
        () => zipSync(Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [`${i}`, strToU8('')]))),
      ],
      ['a DOCX with a password', 'encrypted', TYPES.docx, () => Buffer.from('d0cf11e0a1b11ae1'.padEnd(64, '0'), 'hex')],
      ['an invalid DOCX', 'damaged', TYPES.docx, () => Buffer.from('hello')],
      ['an XLSX that is a DOCX', 'damaged', TYPES.xlsx, () => docxOf({ language: 'en', blocks: [] })],
      ['an invalid PDF', 'damaged', TYPES.pdf, () => Buffer.from('<html>')],
      ['an invalid PNG', 'damaged', TYPES.png, () => Buffer.alloc(100)],
      [
        'a PNG of a hundred thousand pixels each way',
        'too_large',
        TYPES.png,
        () =>
          Buffer.concat([
            Buffer.from('89504e470d0a1a0a0000000d49484452000186a0000186a00800000000', 'hex'),
            Buffer.alloc(40),
          ]),
      ],
    ];
    for (const [what, code, contentType, bytes] of cases)
      it(`${what}: ${code}`, async () => expect(await refusal(read(bytes(), contentType))).to.equal(code));

    it('a PDF that unpacks without end is aborted, and the next document is read', async () => {
      const small = aReader({ maxGrowth: 300 * 1024 * 1024, deadlineMs: 40_000 });
      const zeros = deflateSync(deflateSync(Buffer.alloc(1_500_000_000)));
      expect(
        await refusal(read(pdfOf(streamOf(zeros, '/Filter [/FlateDecode /FlateDecode]')), TYPES.pdf, { of: small })),
      ).to.equal('too_large');
      expect(joinedText(await read('still there', TYPES.text, { of: small }))).to.equal('still there');
    });
  });

  describe('concurrent use', () => {
    it('a document that takes too long is aborted, and the next is read', async () => {
      const shortDeadline = aReader({ deadlineMs: 1 });
      expect(await refusal(read(pdfOf(streamOf(Buffer.from('BT ET'))), TYPES.pdf, { of: shortDeadline }))).to.equal(
        'too_slow',
      );
    });
    it("an aborted request fails with the caller's reason, while waiting or being read", async () => {
      const own = aReader();
      const aborted = new AbortController();
      const reading = Promise.all(
        [0, 1].map(() => refusal(read('text', TYPES.text, { of: own, signal: aborted.signal }))),
      );
      const reason = new Error('gone');
      aborted.abort(reason);
      expect(await reading).to.deep.equal([reason, reason]);
      expect(joinedText(await read('next', TYPES.text, { of: own }))).to.equal('next');
    });
    it('a document is refused if too many are waiting', async () => {
      const narrow = aReader({ maxWaiting: 2 });
      const all = await Promise.all([1, 2, 3].map((n) => refusal(read(`${n}`, TYPES.text, { of: narrow }))));
      expect(all).to.deep.equal(['it was read', 'it was read', 'busy']);
    });
    it('the bytes are requested when the document is next in the queue, and an error in them is passed on', async () => {
      const broken = new Error('the store is down');
      expect(
        await refusal(
          reader.textOf(() => Promise.reject(broken), {
            contentType: TYPES.text,
            signal: new AbortController().signal,
          }),
        ),
      ).to.equal(broken);
    });
    it('a document above the size limit fails with too_large', async () =>
      expect(await refusal(read(Buffer.alloc(2_000), TYPES.text, { of: aReader({ maxBytes: 1_000 }) }))).to.equal(
        'too_large',
      ));
    it('the thread is ended after a period without documents, and started again', async () => {
      const own = aReader({ idleMs: 1 });
      for (const text of ['one', 'two']) {
        expect(joinedText(await read(text, TYPES.text, { of: own }))).to.equal(text);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    it('nothing is read after closing', async () => {
      const closed = aReader();
      await closed.close();
      expect(await refusal(read('text', TYPES.text, { of: closed }))).to.equal('closed');
    });
  });

  it('loads no native code to read PDFs, even if a native canvas is installed', () => {
    const script = `process.dlopen = (module, path) => { throw new Error('native code: ' + path); };
      const { pdfjs } = await import('${program('data-plane-agent/plane/files/text/pdfjs.ts')}');
      console.log(typeof (await pdfjs()).getDocument, Object.keys((await import('@napi-rs/canvas')).default).length);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).to.deep.equal({ stdout: 'function 0\n', stderr: '' });
  });

  it('recognises a picture without network access', function () {
    if (spawnSync('unshare', ['-rn', 'true']).status !== 0)
      skip(this, 'this system lets nobody take the network away from a process');
    const script = `import { documentReader } from '${program('data-plane-agent/plane/files/text/index.ts')}';
      const reader = documentReader({ residentBytes: () => 0 });
      const bytes = Buffer.from('${aPicture().toString('base64')}', 'base64');
      const { Readable } = await import('node:stream');
      const { pages } = await reader.textOf(Readable.from([bytes]), { contentType: 'image/png', signal: new AbortController().signal });
      console.log(JSON.stringify(pages)); await reader.close();`;
    const { stdout, stderr } = spawnSync('unshare', ['-rn', process.execPath, '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(stdout, stderr).to.contain('"source":"ocr"');
  });
});

/** A picture of one row of strokes. */
function aPicture(): Buffer {
  const [width, height] = [600, 200];
  const rows = Buffer.alloc((width + 1) * height, 255);
  for (let y = 0; y < height; y++) {
    rows[y * (width + 1)] = 0;
    for (let x = 0; x < width; x++)
      if (y > 80 && y < 120 && x > 60 && x < 500 && x % 40 < 6) rows[y * (width + 1) + 1 + x] = 0;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.writeUInt8(8, 8);
  const part = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    part('IHDR', head),
    part('IDAT', deflateSync(rows)),
    part('IEND', Buffer.alloc(0)),
  ]);
}
