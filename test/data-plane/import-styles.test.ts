import { expect } from 'chai';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { csvCells } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { aField } from '../support/fields.js';
import { aSheet, cellsOf, contractOf, faultsOf, ofCsv } from '../support/import-samples.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';

type Cells = Readonly<Record<string, string>>;

/** A CSV with one contract for each of these rows, completed with the required cells. */
function csvOf(rows: readonly Cells[], delimiter: ',' | ';' | '\t' = ';') {
  const contracts = rows.map((row) => ({ ...cellsOf({ unitPrice: '5000', quantity: '2' }), ...row }));
  const header = [...new Set(contracts.flatMap((row) => Object.keys(row)))];
  const lines = [header, ...contracts.map((row) => header.map((name) => String((row as Cells)[name] ?? '')))];
  return {
    text: lines.map((cells) => csvCells(cells, delimiter)).join('\n'),
    numbers: contracts.map(({ contractNo }) => String(contractNo)),
  };
}

const messagesOf = ({ rows }: ImportReport): string[] =>
  rows.flatMap(({ row, errors = [] }) => errors.map(({ message }) => `${row} ${message}`));

describe('numbers and dates of a file', () => {
  forEachPlane((_name, makePlane) => {
    const entered = async (test: TestPlane, numbers: readonly string[], field: 'totalAmount' | 'signDate') => {
      const found = [];
      for (const number of numbers) found.push((await contractOf(test, number))[field]);
      return found;
    };
    const imported = async (test: TestPlane, rows: readonly Cells[], delimiter?: ',' | ';' | '\t') => {
      const { text, numbers } = csvOf(rows, delimiter);
      return { report: await test.plane.importContracts(await ofCsv(text)), numbers };
    };

    it('are read in one style, which all number columns decide together', async () => {
      const test = makePlane();
      for (const delimiter of [',', ';', '\t'] as const) {
        const comma = await imported(
          test,
          [{ totalAmount: '45.000' }, { totalAmount: '45.000,00' }, { totalAmount: '1,234' }],
          delimiter,
        );
        expect(await entered(test, comma.numbers.slice(0, 2), 'totalAmount')).to.deep.equal([45000, 45000]);
        expect(faultsOf(comma.report), 'a third decimal of CNY').to.deep.equal(['4 totalAmount INVALID_INPUT']);
        expect(comma.report.reading).to.deep.include({ delimiter, decimalMark: ',', groupMark: '.' });
        const other = await imported(
          test,
          [{ totalAmount: '45,000' }, { deposit: '12.5', totalAmount: '1000' }],
          delimiter,
        );
        expect(await entered(test, other.numbers, 'totalAmount'), 'shown by another column').to.deep.equal([
          45000, 1000,
        ]);
        expect(other.report.reading).to.deep.include({ decimalMark: '.', groupMark: ',' });
      }
    });

    it('are refused with both possible values if nothing in the file decides their style', async () => {
      const test = makePlane();
      for (const delimiter of [';', '\t'] as const) {
        const { report } = await imported(
          test,
          [{ totalAmount: '45.000' }, { totalAmount: '1,234' }, { totalAmount: '77' }],
          delimiter,
        );
        expect(report).to.include({ created: 1, failed: 2 });
        expect(report.reading).to.include({ decimalMark: null, groupMark: null });
        expect(messagesOf(report)).to.deep.equal([
          '2 totalAmount "45.000" may be 45 (with decimals) or 45000 (with thousands): no number of the file shows whether a point or a comma marks its decimals; write 45000 or 45',
          '3 totalAmount "1,234" may be 1.234 (with decimals) or 1234 (with thousands): no number of the file shows whether a point or a comma marks its decimals; write 1234, or 1.2340 in a currency with 3 decimals such as KWD',
        ]);
      }
    });

    it('with two readings are accepted in each spelling that their refusal gives', async () => {
      const test = makePlane();
      for (const [rows, at] of [
        [
          [{ totalAmount: '1,000.00' }, { totalAmount: '3,000.00' }, { unitPrice: '12,5' }, { totalAmount: '2,000' }],
          3,
        ],
        [[{ totalAmount: '1.000,00' }, { totalAmount: '3.000,00' }, { unitPrice: '12.5' }, { unitPrice: '2.125' }], 3],
        [[{ unitPrice: '1,000.00' }, { unitPrice: '12,5' }, { unitPrice: '2,125' }], 2],
        [[{ unitPrice: '2.125' }, { unitPrice: '2,125' }, { unitPrice: '45,000' }, { unitPrice: '45.000' }], 2],
      ] as [Cells[], number][]) {
        const { report } = await imported(test, rows);
        const messages = new Map(report.rows.map(({ row, errors = [] }) => [row, errors[0]?.message ?? '']));
        const spellingOf = (row: number, at: 1 | 2) => /; write (\S+) or (\S+)$/.exec(messages.get(row) ?? '')?.[at];
        expect(spellingOf(at + 2, 2), messages.get(at + 2)).to.be.a('string');
        for (const which of [1, 2] as const) {
          const spelled = rows.map((row, i): Cells => {
            const text = spellingOf(i + 2, which);
            return text === undefined ? row : Object.fromEntries(Object.keys(row).map((name) => [name, text]));
          });
          const again = await imported(test, spelled);
          expect(again.report.rows[at]?.status, messagesOf(again.report).join()).to.equal('created');
        }
      }
    });

    it('have decimal points if the delimiter is a comma, unless a number may contain thousands', async () => {
      const test = makePlane();
      const program = await imported(test, [{ unitPrice: '3.125' }, { totalAmount: '45,000' }], ',');
      expect(program.report, JSON.stringify(program.report.rows)).to.include({ created: 2 });
      expect((await contractOf(test, program.numbers[0] ?? '')).unitPrice).to.equal(3.125);
      expect(await entered(test, program.numbers.slice(1), 'totalAmount')).to.deep.equal([45000]);
      const person = await imported(test, [{ totalAmount: '45.000' }, { unitPrice: '3.125' }], ',');
      expect(faultsOf(person.report)).to.deep.equal(['2 totalAmount INVALID_INPUT', '3 unitPrice INVALID_INPUT']);
    });

    it('that contradict the rest of the file are refused with the number of the contradicting row, and so are ambiguous ones', async () => {
      const { report } = await imported(makePlane(), [
        { totalAmount: '45.000,00' },
        { totalAmount: '1.234,5' },
        { totalAmount: '12.5' },
        { totalAmount: '45.000' },
        { totalAmount: '7' },
      ]);
      expect(report).to.include({ created: 3, failed: 2 });
      expect(messagesOf(report)).to.deep.equal([
        '4 totalAmount "12.5" is written with a decimal point, but row 2 with a decimal comma; write all numbers of the file alike',
        '5 totalAmount "45.000" may be 45 (with decimals) or 45000 (with thousands): row 4 of the file has a decimal point and row 2 a decimal comma; write 45000 or 45',
      ]);
      expect(report.reading).to.include({ decimalMark: null, groupMark: null });
      const even = await imported(makePlane(), [{ totalAmount: '1,5' }, { totalAmount: '2.5' }]);
      expect(faultsOf(even.report)).to.deep.equal(['2 totalAmount INVALID_INPUT', '3 totalAmount INVALID_INPUT']);
    });

    it('have an order of day and month that any day above 12 decides; otherwise ambiguous dates are refused', async () => {
      const test = makePlane();
      for (const [shown, order, signDate] of [
        ['31/12/2026', 'DMY', '2025-03-05'],
        ['12.31.2026', 'MDY', '2025-05-03'],
      ] as const) {
        const { report, numbers } = await imported(test, [{ signDate: '05/03/2025' }, { endDate: shown }]);
        expect(report, JSON.stringify(report.rows)).to.include({ created: 2 });
        expect(report.reading?.dayOrder).to.equal(order);
        expect((await entered(test, numbers, 'signDate'))[0]).to.equal(signDate);
      }
      const { report } = await imported(test, [
        { signDate: '05/03/2025' },
        { signDate: '2025.02.05' },
        { signDate: '2025/3/1' },
        { signDate: '5/3/25' },
      ]);
      expect(messagesOf(report)).to.deep.equal([
        '2 signDate "05/03/2025" may be 2025-03-05 or 2025-05-03: no date of the file has a day above 12; write 2025-03-05 or 2025-05-03',
        '5 signDate has a year of two digits; write all four, like 2026-03-31',
      ]);
      const mixed = await imported(test, [
        { endDate: '31/12/2026' },
        { endDate: '30/12/2026' },
        { endDate: '12/30/2026' },
      ]);
      expect(messagesOf(mixed.report)).to.deep.equal([
        '4 endDate "12/30/2026" has its month first, but row 2 has a date with its day first; write dates like 2026-03-31',
      ]);
      expect(mixed.report.reading?.dayOrder).to.equal(null);
    });

    it('are decided by those of custom fields too, but not by numbers that a workbook stores', async () => {
      const test = makePlane();
      const weight = await aField(test, { name: 'Weight', code: 'weight', type: 'number' });
      const since = await aField(test, { name: 'Since', code: 'since', type: 'date' });
      const { report, numbers } = await imported(test, [
        { 'cf:weight': '1.500', 'cf:since': '05.03.2025' },
        { 'cf:weight': '0,5', signDate: '31.12.2025' },
      ]);
      expect(report).to.include({ created: 2 });
      expect((await contractOf(test, numbers[0] ?? '')).dynamicFields).to.deep.equal({
        [weight.id]: 1500,
        [since.id]: '2025-03-05',
      });
      const workbook = await test.plane.importContracts(
        aSheet([
          cellsOf({ totalAmount: 45.125, currencyCode: 'KWD', 'cf:weight': 1.5 }),
          cellsOf({ totalAmount: '45.125' }),
        ]),
      );
      expect(faultsOf(workbook)).to.deep.equal(['3 totalAmount INVALID_INPUT']);
      expect(workbook.rows[1]?.errors?.[0]?.message).to.contain('may be 45.125 (with decimals) or 45125');
      expect(workbook.reading).to.deep.include({ delimiter: null, decimalMark: null });
    });

    it('are not quoted in errors to callers who may not see the field', async () => {
      const test = makePlane();
      await aField(test, { name: 'Few', code: 'few', type: 'number', visibleRoles: ['manager'] });
      const { report } = await imported(test, [{ 'cf:few': '45.000' }]);
      const batchId = report.batchId ?? '';
      const admin = test.as({ actor: { ...test.call.actor, id: newId(), roleCode: 'admin' }, rights: ALL_RIGHTS });
      const seen = JSON.stringify([await admin.getImport({ batchId }), await admin.getImportErrors({ batchId })]);
      expect(seen)
        .to.contain('cf:few has a value that you may not see')
        .and.not.contain('45.000')
        .and.not.contain('45000');
    });
  });
});
