import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { strToU8, zipSync } from 'fflate';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { readWorkbook } from '../../data-plane-agent/base/workbook/read-workbook.js';
import { altered, aWorkbook, SHEET, workbookOfXml } from '../support/workbook.js';

const cells = async (bytes: Uint8Array, sheet: string | null = null) =>
  (await readWorkbook(bytes, sheet, 'tenant')).rows;

async function reasonOf(bytes: Uint8Array, sheet: string | null = null): Promise<string> {
  try {
    await readWorkbook(bytes, sheet, 'tenant');
  } catch (error) {
    if (isFailure(error, 'IMPORT_FILE_INVALID')) return error.details.reason;
    throw error;
  }
  throw new Error('it was read');
}

describe('a workbook', () => {
  it('is read cell by cell, with dates independent of the time zone of the machine', async () => {
    const bytes = await aWorkbook([
      ['no', 'amount', 'due', 'paid'],
      ['C-1', 1234.5, new Date(Date.UTC(2026, 2, 31)), true],
      [null, null, null, null],
      ['合同', -0.1, new Date(Date.UTC(1999, 11, 31, 23, 59)), false],
    ]);
    expect(await cells(bytes)).to.deep.equal([
      ['no', 'amount', 'due', 'paid'],
      ['C-1', 1234.5, '2026-03-31', true],
      [null, null, null, null],
      ['合同', -0.1, '1999-12-31', false],
    ]);
  });

  it('gives the stored value of a formula, and reports errors and formulas without a value', async () => {
    const bytes = await workbookOfXml(
      '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>"a"&amp;"b"</f><v>ab</v></c><c r="C1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="D1"><f>A1*3</f></c><c r="E1" s="0"><f t="shared" ref="E1" si="0"/><v></v></c><c r="F1" t="inlineStr"><is><t>#N/A</t></is></c></row>',
    );
    const [row = []] = await cells(bytes);
    expect(row.slice(0, 4)).to.deep.equal([2, 'ab', '#DIV/0!', '#VALUE!']);
    expect(row[5]).to.equal('#N/A');
  });

  it('reports that its dates are counted from 1904', async () => {
    const bytes = altered(await aWorkbook([['a']]), (parts) => ({
      'xl/workbook.xml': (parts['xl/workbook.xml'] ?? '').replace(
        /(<workbook\b[^>]*>)(?:<workbookPr[^>]*\/>)?/,
        '$1<workbookPr date1904="1"/>',
      ),
    }));
    expect((await readWorkbook(bytes, null, 'tenant')).date1904).to.equal(true);
  });

  it('is read sheet by sheet, by name, and the error for a missing sheet lists the existing ones', async () => {
    const bytes = await aWorkbook([['a']]);
    expect(await cells(bytes, 'Sheet1')).to.deep.equal([['a']]);
    expect(await reasonOf(bytes, 'Tabelle2')).to.equal('it has no sheet of that name; its sheets are: Sheet1');
  });

  it('is not unpacked beyond the limit, even when it declares a false size', async () => {
    const bomb = altered(await aWorkbook([['a']]), () => ({
      'xl/worksheets/sheet2.xml': ' '.repeat(101 * 1024 * 1024),
    }));
    expect(bomb.length).to.be.lessThan(1024 * 1024);
    expect(await reasonOf(bomb)).to.equal('it unpacks to more than 100 MB');
    const many = zipSync(
      Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [`xl/media/${i}.png`, strToU8('')])),
    );
    expect(await reasonOf(many)).to.equal('it has more than 2000 parts');
    // The sizes in the directory and in the local header declare a small sheet.
    const liar = Buffer.from(altered(await aWorkbook([['a']]), () => ({ [SHEET]: ' '.repeat(50 * 1024 * 1024) })));
    for (let at = liar.indexOf(sizeOf(50 * 1024 * 1024)); at >= 0; at = liar.indexOf(sizeOf(50 * 1024 * 1024)))
      sizeOf(64).copy(liar, at);
    expect(await reasonOf(new Uint8Array(liar))).to.match(/damaged|no cells/);
  });

  it('is refused when the position of a cell would make the sheet fill the memory', async () => {
    expect(await reasonOf(await workbookOfXml('<row r="10001"><c r="A10001"><v>1</v></c></row>'))).to.equal(
      'there are cells below row 10000',
    );
    expect(await reasonOf(await workbookOfXml('<row r="1"><c r="ZZZZ1"><v>1</v></c></row>'))).to.equal(
      'there are cells beyond column 500',
    );
    expect(await reasonOf(await workbookOfXml('<row r="1"><c><v>1</v></c></row>'))).to.equal('a cell has no address');
    expect(await reasonOf(await workbookOfXml('<row r="999999999"></row>'))).to.equal(
      'there are rows below row 1048576',
    );
    expect(
      await cells(
        await workbookOfXml('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="A1048576" s="0"/></row>'),
      ),
      'formatted cells are none',
    ).to.deep.equal([[1]]);
  });

  it('is refused when it declares XML entities', async () => {
    const bytes = altered(await aWorkbook([['a']]), (parts) => ({
      [SHEET]: (parts[SHEET] ?? '').replace(
        /^(<\?xml[^>]*\?>)?/,
        '$1<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
      ),
    }));
    expect(await reasonOf(bytes)).to.equal('it declares XML entities');
  });

  it('is refused when it is not a workbook', async () => {
    const workbook = await aWorkbook([['a']]);
    expect(
      await reasonOf(new Uint8Array(Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), randomBytes(600)]))),
    ).to.match(/old \.xls file or password-protected/);
    expect(await reasonOf(altered(workbook, () => ({ 'xl/vbaProject.bin': 'x' })))).to.match(/macros/);
    expect(
      await reasonOf(
        altered(workbook, (parts) => ({
          '[Content_Types].xml': (parts['[Content_Types].xml'] ?? '').replaceAll(
            'spreadsheetml.sheet.main',
            'ms-excel.sheet.macroEnabled.main',
          ),
        })),
      ),
    ).to.match(/macros/);
    expect(
      await reasonOf(
        zipSync({
          'content.xml': strToU8('<office/>'),
          mimetype: strToU8('application/vnd.oasis.opendocument.spreadsheet'),
        }),
      ),
    ).to.equal('it is not an .xlsx workbook');
    expect(await reasonOf(new Uint8Array(0))).to.equal('it is not an .xlsx workbook');
    expect(await reasonOf(strToU8('a,b\r\n1,2'))).to.equal('it is not an .xlsx workbook');
    for (const length of [40, Math.floor(workbook.length / 2), workbook.length - 10])
      expect(await reasonOf(workbook.slice(0, length)), `cut at ${length}`).to.match(/damaged|not an \.xlsx/);
    expect(
      await reasonOf(altered(workbook, () => ({ [SHEET]: '<worksheet><sheetData><row r="1"><c r="A1"><v>1</v>' }))),
    ).to.match(/damaged|no cells/);
    expect(await reasonOf(altered(workbook, () => ({ [SHEET]: null })))).to.match(/damaged|no cells/);
  });

  it('does not block other work', async function () {
    this.timeout(180_000);
    const bytes = await aWorkbook(
      Array.from({ length: 1_500 }, (_, row) => Array.from({ length: 20 }, (_cell, column) => `${row}/${column}`)),
    );
    let turns = 0;
    let reading = true;
    const count = (): void => {
      turns += 1;
      if (reading) setImmediate(count);
    };
    count();
    const rows = await cells(bytes);
    reading = false;
    expect(rows).to.have.length(1_500);
    expect(turns).to.be.greaterThan(50);
  });
});

function sizeOf(bytes: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes);
  return size;
}
