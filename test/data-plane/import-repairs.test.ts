import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import type { CsvFormat } from '../../data-plane-agent/plane/contract/records/sheet.js';
import { csvCells } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { aSheet, cellsOf, contractOf, ofCsv } from '../support/import-samples.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';

/** How the author of a file writes it. */
interface Author {
  readonly delimiter: CsvFormat['delimiter'];
  readonly mark: '.' | ',';
  readonly group: string;
  readonly order: 'YMD' | 'DMY' | 'MDY';
  readonly separator: '/' | '.' | '-';
  readonly byteOrderMark: boolean;
}
/** The intended values of a contract of the file; numbers in thousandths. */
interface Truth {
  readonly unitPrice: number;
  readonly decimals: 0 | 1 | 2 | 3;
  readonly signDate: readonly [day: number, month: number];
  readonly fault: 'none' | 'quantity' | 'unitPrice' | 'signDate';
}

const authors: fc.Arbitrary<Author> = fc
  .record({
    delimiter: fc.constantFrom<CsvFormat['delimiter'][]>(',', ';', '\t'),
    mark: fc.constantFrom('.', ','),
    group: fc.constantFrom('', 'other', ' ', "'"),
    order: fc.constantFrom('YMD', 'DMY', 'MDY'),
    separator: fc.constantFrom('/', '.', '-'),
    byteOrderMark: fc.boolean(),
  })
  .map(({ group, mark, ...author }) => ({
    ...author,
    mark,
    group: group === 'other' ? (mark === '.' ? ',' : '.') : group,
  }));
const truths: fc.Arbitrary<Truth> = fc.record({
  unitPrice: fc.oneof(
    fc.integer({ min: 1, max: 9_999_999 }),
    fc.integer({ min: 1, max: 999 }).map((n) => n * 1_000_000),
  ),
  decimals: fc.constantFrom(0, 1, 2, 3),
  signDate: fc.tuple(fc.integer({ min: 1, max: 28 }), fc.integer({ min: 1, max: 12 })),
  fault: fc.constantFrom('none', 'none', 'quantity', 'unitPrice', 'signDate'),
});

/** The price, rounded down to the digits that its author writes. */
const priceOf = ({ unitPrice, decimals }: Truth): number =>
  unitPrice - (unitPrice % 10 ** (3 - decimals)) + (decimals === 0 ? 1_000 : 0);
function numberText(truth: Truth, { mark, group }: Pick<Author, 'mark' | 'group'>): string {
  const [whole = '', fraction = ''] = (priceOf(truth) / 1_000).toFixed(truth.decimals).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group);
  return fraction === '' ? grouped : `${grouped}${mark}${fraction}`;
}
const two = (n: number): string => String(n).padStart(2, '0');
function dayText({ signDate: [day, month] }: Truth, { order, separator }: Pick<Author, 'order' | 'separator'>): string {
  const parts = {
    YMD: ['2025', two(month), two(day)],
    DMY: [two(day), two(month), '2025'],
    MDY: [two(month), two(day), '2025'],
  };
  return parts[order].join(separator);
}

interface File {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly numbers: readonly string[];
}
function fileOf(all: readonly Truth[], author: Author): File {
  const contracts = all.map((truth) => ({
    ...cellsOf(),
    quantity: truth.fault === 'quantity' ? 'none' : '1',
    unitPrice: truth.fault === 'unitPrice' ? 'soon' : numberText(truth, author),
    signDate: truth.fault === 'signDate' ? 'never' : dayText(truth, author),
  }));
  return {
    header: Object.keys(contracts[0] ?? {}),
    rows: contracts.map((cells) => Object.values(cells).map(String)),
    numbers: contracts.map((cells) => String((cells as Record<string, unknown>)['contractNo'])),
  };
}
const textOf = ({ header, rows }: Pick<File, 'header' | 'rows'>, { delimiter, byteOrderMark }: Author): string =>
  (byteOrderMark ? '\uFEFF' : '') + [header, ...rows].map((cells) => csvCells(cells, delimiter)).join('\r\n');

describe('failed rows of an import', () => {
  forEachPlane((_name, makePlane) => {
    /** Created contracts have the values that the file's author intended. */
    const expectTruth = async (test: TestPlane, report: ImportReport, byNumber: ReadonlyMap<string, Truth>) => {
      for (const { status, contractId, contractNo } of report.rows) {
        const truth = byNumber.get(contractNo ?? '');
        if (status !== 'created' || !truth) continue;
        const { unitPrice, signDate } = await test.plane.getContract({ contractId: contractId ?? '' });
        expect([unitPrice, signDate], JSON.stringify(truth)).to.deep.equal([
          priceOf(truth) / 1_000,
          `2025-${two(truth.signDate[1])}-${two(truth.signDate[0])}`,
        ]);
      }
    };
    const errorsOf = async (test: TestPlane, { batchId }: ImportReport) =>
      (await test.plane.getImportErrors({ batchId: batchId ?? '' })).csv;

    it('fail again if they are imported unchanged, and have the intended values once they are corrected', async function () {
      this.timeout(300_000);
      const test = makePlane();
      await fc.assert(
        fc.asyncProperty(authors, fc.array(truths, { minLength: 1, maxLength: 6 }), async (author, all) => {
          const file = fileOf(all, author);
          const byNumber = new Map(file.numbers.map((number, i) => [number, all[i] as Truth]));
          const first = await test.plane.importContracts(await ofCsv(textOf(file, author)));
          await expectTruth(test, first, byNumber);
          if (first.failed === 0) return;
          const csv = await errorsOf(test, first);
          expect(csv.startsWith('\uFEFF')).to.equal(author.byteOrderMark);

          const unchanged = await test.plane.importContracts(await ofCsv(csv));
          expect([unchanged.created, unchanged.failed], csv).to.deep.equal([0, first.failed]);

          const [header = [], ...rows] = parse(csv, { bom: true, delimiter: author.delimiter }) as string[][];
          const at = (name: string) => header.indexOf(name);
          const repaired = rows.map((cells) => {
            const truth = byNumber.get(cells[at('contractNo')] ?? '') as Truth;
            const named = (name: string) => (cells[at('error')] ?? '').includes(`${name} `);
            return cells.map((cell, i) => {
              if (i === at('quantity')) return '1';
              // An ambiguous cell is corrected to an unambiguous text; any other is written in the style of the author.
              if (i === at('unitPrice') && named('unitPrice'))
                return cell === 'soon'
                  ? numberText(truth, author)
                  : String(priceOf(truth) / 1_000).replace('.', author.mark) + (truth.decimals === 3 ? '0' : '');
              if (i === at('signDate') && named('signDate'))
                return cell === 'never' ? dayText(truth, author) : dayText(truth, { order: 'YMD', separator: '-' });
              return cell;
            });
          });
          const again = await test.plane.importContracts(await ofCsv(textOf({ header, rows: repaired }, author)));
          await expectTruth(test, again, byNumber);
          // A row may fail only because its correction is ambiguous, in a file without evidence of its style.
          for (const { errors = [] } of again.rows)
            for (const { message } of errors) expect(message).to.contain(' may be ');
        }),
        { numRuns: 60, seed: 15 },
      );
    });

    it('of a workbook keep their values too: stored numbers have a decimal point regardless of the style of texts', async () => {
      const test = makePlane();
      const report = await test.plane.importContracts(
        aSheet([
          cellsOf({ unitPrice: 45.125, quantity: 'none', signDate: 45_000 }),
          cellsOf({ unitPrice: '45.125' }),
          cellsOf({ unitPrice: 1.5, quantity: 'none' }),
        ]),
      );
      const csv = await errorsOf(test, report);
      const rows = parse(csv, { bom: true, columns: true }) as Record<string, string>[];
      expect(rows.map((row) => [row['unitPrice'], row['signDate'], row['read as']])).to.deep.equal([
        ['45.1250', '2023-03-15', 'unknown'],
        ['45.125', '', 'unknown'],
        ['1.5', '', 'unknown'],
      ]);
      const again = await test.plane.importContracts(await ofCsv(csv.replaceAll(',none,', ',1,')));
      expect(again.rows.map(({ status }) => status)).to.deep.equal(['created', 'failed', 'created']);
      expect((await contractOf(test, rows[0]?.['contractNo'] ?? '')).unitPrice).to.equal(45.125);
    });

    it('are read in the style that other rows of the original file decided, without these rows', async () => {
      const test = makePlane();
      const cells = (changes: Record<string, string>) => ({ ...cellsOf(), unitPrice: '1', ...changes });
      const rows = [
        cells({ totalAmount: '1.234,5', signDate: '31/12/2025' }),
        cells({ totalAmount: '45.000', signDate: '05/03/2025', quantity: 'none' }),
        cells({ totalAmount: '12.5', signDate: '30/12/2025' }),
        cells({ totalAmount: '2.345,6', signDate: '29/12/2025' }),
      ];
      const header = Object.keys(rows[0] ?? {});
      const csvOf = (lines: readonly object[]) =>
        [header, ...lines.map((line) => Object.values(line).map(String))].map((line) => csvCells(line, ';')).join('\n');
      const settled = await test.plane.importContracts(await ofCsv(csvOf(rows.filter((_, i) => i < 2))));
      const file = await errorsOf(test, settled);
      expect(file).to.contain(';45000;2025-03-05;').and.contain(';"1.234,56 31/12/2026";');
      const mended = await test.plane.importContracts(
        await ofCsv(file.replace(';none;', ';1;').replace(';45000;2025-03-05;', ';45.000;05/03/2025;')),
      );
      expect(mended.created, 'corrected in the style of the original file').to.equal(1);
      const contract = await contractOf(test, String(rows[1]?.['contractNo' as never]));
      expect([contract.totalAmount, contract.signDate]).to.deep.equal([45000, '2025-03-05']);

      const mixed = rows.map((row, i) => ({
        ...row,
        ...cellsOf(),
        ...(i === 1 ? { quantity: 1 } : {}),
        unitPrice: '1',
        totalAmount: row['totalAmount' as never] as string,
        signDate: row['signDate' as never] as string,
      }));
      const refused = await test.plane.importContracts(await ofCsv(csvOf(mixed)));
      expect(refused).to.include({ created: 2, failed: 2 });
      const contradicting = await errorsOf(test, refused);
      expect(contradicting).to.contain(';45.000;').and.contain(';12.5;');
      expect((await test.plane.importContracts(await ofCsv(contradicting))).created, 'unchanged').to.equal(0);
      const alike = await test.plane.importContracts(await ofCsv(contradicting.replace(';12.5;', ';"12,5";')));
      expect(alike.created).to.equal(2);
      expect((await contractOf(test, String(mixed[1]?.['contractNo' as never]))).totalAmount).to.equal(45000);
    });

    it('are refused again for a date with two readings, also when a correction of other rows leaves one order of day and month', async () => {
      const test = makePlane();
      const fileOf = (...days: string[]) => {
        const rows = days.map((signDate) => cellsOf({ unitPrice: '1', quantity: '1', signDate }));
        const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))];
        return lines.map((line) => csvCells(line)).join('\n');
      };
      for (const [days, corrections] of [
        [
          ['05/03/2026', '04/25/2026', '25/04/2026'],
          [
            ['25/04/2026', '2026-04-25'],
            ['04/25/2026', '2026-04-25'],
          ],
        ],
        [
          ['05/03/2026', '04/25/2026', '25/04/2026', '26/04/2026'],
          [
            ['04/25/2026', '2026-04-25'],
            ['04/25/2026', '25/04/2026'],
          ],
        ],
        [['05/03/2026', '06/03/2026'], [['06/03/2026', '25/03/2026']]],
      ] as const) {
        for (const [wrong, right] of corrections) {
          const refused = await test.plane.importContracts(await ofCsv(fileOf(...days)));
          const csv = await errorsOf(test, refused);
          const unchanged = await test.plane.importContracts(await ofCsv(csv));
          expect([unchanged.created, unchanged.failed], csv).to.deep.equal([0, refused.failed]);
          const lines = csv.split('\r\n');
          const corrected = lines.map((line) => line.replace(`,${wrong},`, `,${right},`)).join('\r\n');
          const again = await test.plane.importContracts(await ofCsv(corrected));
          expect([again.rows[0]?.status, again.failed], `${wrong} to ${right}: ${csv}`).to.deep.equal(['failed', 1]);
          expect(again.reading?.dayOrder).to.equal(null);
          expect(again.rows[0]?.errors?.[0]?.message).to.equal(
            'signDate "05/03/2026" may be 2026-03-05 or 2026-05-03: the file from which the row was refused did not decide which is first, the day or the month; write 2026-03-05 or 2026-05-03',
          );
          const once = (await errorsOf(test, again)).replace('05/03/2026', '2026-03-05');
          expect(await test.plane.importContracts(await ofCsv(once))).to.include({ created: 1, failed: 0 });
        }
      }
    });
  });
});
