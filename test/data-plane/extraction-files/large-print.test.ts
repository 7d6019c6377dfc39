import { expect } from 'chai';
import { Readable } from 'node:stream';
import { documentReader, joinedText, type DocumentReader } from '../../../data-plane-agent/plane/files/text/index.js';
import { needsBrowser } from '../../support/browser.js';

describe('pictures of large print', function () {
  this.timeout(240_000); // rendering and recognition take long

  let reader: DocumentReader;
  before(() => (reader = documentReader({ residentBytes: () => process.memoryUsage.rss() })));
  after(() => reader.close());
  const browser = needsBrowser(); // must come last: without a browser it skips later hooks, but the reader is still closed

  /** A4 at 200 dpi, black on white, not rotated. */
  const drawn = async (html: string): Promise<Buffer> => {
    const tab = await browser().newPage({ viewport: { width: 1654, height: 1169 } });
    try {
      await tab.setContent(
        `<style>body{margin:100px;font:56px sans-serif;line-height:1.6;background:white}table{border-collapse:collapse}td{border:3px solid black;padding:4px 30px}u{text-underline-offset:6px}</style>${html}`,
      );
      return await tab.screenshot();
    } finally {
      await tab.close();
    }
  };
  const read = async (picture: Buffer): Promise<string> =>
    joinedText(
      await reader.textOf(Readable.from([picture]), { contentType: 'image/png', signal: new AbortController().signal }),
    );

  it('keep the stems of their letters, also above an underline', async () => {
    const lines = [
      'SALES CONTRACT',
      'Contract No.: HT-2026-77',
      'Total amount: CNY 120,000.00',
      'Delivery in Hull: three bottles',
    ];
    expect(
      (
        await read(await drawn(lines.map((line, i) => `<div>${i === 3 ? `<u>${line}</u>` : line}</div>`).join('')))
      ).split('\n'),
    ).to.deep.equal(lines);
  });

  it('keep the text in the cells of a table', async () => {
    const rows = [
      ['Contract No.', 'HT-2026-77'],
      ['Total amount', 'CNY 120,000.00'],
      ['Buyer', 'Hill & Field Ltd'],
    ];
    expect(
      (
        await read(
          await drawn(
            `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`,
          ),
        )
      ).split('\n'),
    ).to.deep.equal(rows.map((row) => row.join('\t')));
  });
});
