import { expect } from 'chai';
import { readCsv } from '../../data-plane-agent/plane/domain/sheet/read-csv.js';
import { TooManyRows } from '../../data-plane-agent/plane/domain/sheet/sheet.js';
import { failureOf } from '../support/failures.js';

const table = async (text: string) => {
  const { header, records } = await readCsv(text);
  return [header, ...records.map(({ cells }) => cells)];
};
const reasonOf = async (text: string): Promise<string> =>
  ((await failureOf(readCsv(text))).details as { reason: string }).reason;

describe('a CSV', () => {
  it('is read with commas, semicolons or tabs, any line end, and a byte order mark or none', async () => {
    for (const delimiter of [',', ';', '\t']) {
      for (const end of ['\n', '\r\n', '\r']) {
        for (const mark of ['', '\uFEFF']) {
          const text = `${mark}${['a', 'b', 'c'].join(delimiter)}${end}${['1', `"x${delimiter}""y"""`, ''].join(delimiter)}${end}`;
          expect(await table(text), JSON.stringify(text)).to.deep.equal([
            ['a', 'b', 'c'],
            ['1', `x${delimiter}"y"`, ''],
          ]);
        }
      }
    }
  });

  it('detects the separator by the header, ignoring quoted text', async () => {
    expect(await table('"a, b, c";"d";e\n1;2;3')).to.deep.equal([
      ['a, b, c', 'd', 'e'],
      ['1', '2', '3'],
    ]);
    expect(await table('alone\n"1,2"')).to.deep.equal([['alone'], ['1,2']]);
    expect((await readCsv('a;b\n1,5;2')).csv).to.deep.equal({ delimiter: ';', byteOrderMark: false, encoding: null });
    expect((await readCsv('\uFEFFa,b\n1,2', { encoding: 'utf-8' })).csv).to.deep.equal({
      delimiter: ',',
      byteOrderMark: true,
      encoding: 'utf-8',
    });
  });

  it('keeps line ends and spaces within cells, in any script', async () => {
    expect(await table('备注,b\n"第一行\r\n第二行"," x "\n"𠮷野家,寿司",y')).to.deep.equal([
      ['备注', 'b'],
      ['第一行\r\n第二行', ' x '],
      ['𠮷野家,寿司', 'y'],
    ]);
  });

  it('counts records: the header is number 1 wherever it is, blank rows count, and trailing ones do not', async () => {
    const { records, blank } = await readCsv('a,b\n"1\n1\n1",2\n,\n\n  , \n3,4\n\n,,\n');
    expect(records.map(({ row }) => row)).to.deep.equal([2, 6]);
    expect(blank).to.deep.equal([3, 4, 5]);
    const later = await readCsv('\n\na,b\n1,2\n');
    expect([later.header, later.records.map(({ row }) => row), later.blank]).to.deep.equal([['a', 'b'], [4], []]);
  });

  it('may have rows that are shorter or longer than the header', async () => {
    expect(await table('a,b,\n1\n1,2,3,4')).to.deep.equal([['a', 'b', null], ['1'], ['1', '2', '3', '4']]);
  });

  it('is refused with the line of an invalid quote', async () => {
    expect(await reasonOf('a,b\n1,"open\n2,3\n')).to.match(/^line \d+: a quote is opened and never closed$/);
    expect(await reasonOf('a,b\n1,2\n1,5" pipe\n')).to.match(/^line 3: a quote in the middle of a cell/);
    expect(await reasonOf('a,b\n1,"x"y\n')).to.match(/^line 2: text after a closing quote/);
  });

  it('needs a header, and has at most five thousand rows', async () => {
    expect(await reasonOf('\n , \n')).to.equal('it has no header');
    expect((await readCsv(`a\n${'1\n'.repeat(5_000)}\n\n`)).records).to.have.length(5_000);
    for (const text of [`a\n${'1\n'.repeat(5_001)}`, `a\n${'1\n\n'.repeat(2_501)}1`, `a\n${'\n'.repeat(30_000)}1`]) {
      expect(
        await readCsv(text).then(
          () => 'read',
          (error: unknown) => error,
        ),
      ).to.be.instanceOf(TooManyRows);
    }
    for (const text of [`${'a,'.repeat(501)}b\n1`, `a\n1\n${','.repeat(501)}`, ','.repeat(15_000_000)])
      expect(await reasonOf(text)).to.equal('it has more than 500 columns');
    expect(
      (await table(`a,b\r"1${','.repeat(600)}","${','.repeat(600)}"\r2,3`))[2],
      'commas within quotes do not separate cells',
    ).to.deep.equal(['2', '3']);
  });
});
