import { expect } from 'chai';
import type { CellKind } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS, SUMMARY_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import type { SheetCell } from '../../data-plane-agent/plane/contract/records/sheet.js';
import { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { readCell } from '../../data-plane-agent/plane/domain/sheet/cells.js';
import { readNumber } from '../../data-plane-agent/plane/domain/sheet/number-style.js';
import { matchHeader } from '../../data-plane-agent/plane/domain/sheet/headers.js';
import { failureOf } from '../support/failures.js';

type Style = Parameters<typeof readCell>[2];
const evidence = <const S extends string | null>(style: S) => ({
  style,
  isUnknown: false,
  isMixed: false,
  isNeeded: true,
  seen: {},
});
const POINT: Style = { numbers: evidence('point'), days: evidence('DMY'), date1904: false };
const COMMA: Style = { ...POINT, numbers: evidence('comma') };
const OPEN: Style = { numbers: evidence(null), days: evidence(null), date1904: false };
const read = (cell: SheetCell, kind: CellKind, style: Style = POINT): unknown => {
  const result = readCell(cell, kind, style);
  return result.ok ? result.value : new Error(result.problem);
};
const isRefused = (cell: SheetCell, kind: CellKind, says: RegExp, style: Style = POINT): void => {
  const result = read(cell, kind, style);
  expect(result, JSON.stringify(cell)).to.be.instanceOf(Error);
  expect((result as Error).message).to.match(says);
};

describe('cells', () => {
  it('a blank cell has no value, whatever its kind', () => {
    for (const kind of ['text', 'number', 'day', 'list'] as const)
      for (const cell of [null, '', '  ', '\t', '\u3000']) expect(read(cell, kind)).to.equal(undefined);
  });

  it('numbers are read in the usual spellings, and ambiguous ones are refused', () => {
    const good: [SheetCell, number][] = [
      ['1234.56', 1234.56],
      ['1,234.56', 1234.56],
      ['1,234', 1234],
      ['12,345,678', 12345678],
      [' 7 ', 7],
      ['-5', -5],
      ["'-5", -5],
      ['+5', 5],
      ['１２３', 123],
      ['0.000001', 0.000001],
      ['1 234.5', 1234.5],
      ['1.234.567,8', 1234567.8],
      [12.5, 12.5],
      [0.1 + 0.2, 0.3],
      [1e6, 1_000_000],
    ];
    for (const [cell, number] of good) expect(read(cell, 'number'), JSON.stringify(cell)).to.equal(number);
    for (const cell of ['12,34,567', '1,234 567', '1.2.3', '--1', '1e5', 'one', '1/2', '(5)', '5%', '0x10', 'NaN'])
      isRefused(cell, 'number', /must be a number/);
    for (const cell of ['¥100', '100 CNY', '$5', '5元']) isRefused(cell, 'number', /without a currency/);
    for (const cell of [true, false]) isRefused(cell, 'number', /must be a number/);
  });

  it('a percentage may have a percent sign, other numbers may not', () => {
    for (const cell of ['13%', '13 %', ' 13％ ', '13', 13]) expect(read(cell, 'percent'), String(cell)).to.equal(13);
    for (const cell of ['13%%', '%', '%13', '13% VAT']) isRefused(cell, 'percent', /^must be a number/);
    isRefused('13%', 'amount', /^must be a number like 1234\.56$/);
  });

  it('a long text in a number cell is refused quickly', () => {
    // A regular expression that backtracks from each space would take minutes.
    for (const space of [' ', '\u00a0'])
      expect(read(`1${space.repeat(300_000)}!`, 'number'))
        .to.have.property('message')
        .that.matches(/must be a number/);
  });

  it('a number with two possible values is read in the style of its file, and refused if the file has none', () => {
    for (const [cell, point, comma] of [
      ['1,234', 1234, 1.234],
      ['45.000', 45, 45000],
      ['-7.250', -7.25, -7250],
      ['0.125', 0.125, 0.125],
      ['0,125', 0.125, 0.125],
      ['1234,56', 1234.56, 1234.56],
      ['1.234,56', 1234.56, 1234.56],
      ["1'234.5", 1234.5, 1234.5],
      ['1 234', 1234, 1234],
      ['1\u202f234,5', 1234.5, 1234.5],
    ] as const)
      expect([read(cell, 'number'), read(cell, 'number', COMMA)], cell).to.deep.equal([point, comma]);
    isRefused(
      '45.000',
      'number',
      /^"45\.000" may be 45 \(with decimals\) or 45000 \(with thousands\): .*; write 45000 or 45$/,
      OPEN,
    );
    isRefused('-1,234', 'number', /^"-1,234" may be -1\.234 .* or -1234 .*; write -1234 or -1\.2340$/, OPEN);
    isRefused('1,234', 'amount', /; write 1234, or 1\.2340 in a currency with 3 decimals such as KWD$/, OPEN);
    isRefused('1,234', 'whole', /; write 1234, since only a whole number is valid here$/, OPEN);
    isRefused('45.000', 'amount', /; write 45000 or 45$/, OPEN);
    expect(read('1.234,5', 'amount', COMMA)).to.equal(1234.5);
    const withTwo = readNumber('1,234', OPEN.numbers, 2);
    expect(withTwo)
      .to.have.property('problem')
      .that.matches(/; write 1234, since at most 2 decimals are valid here$/);
    for (const [cell, value] of [
      ['45', 45],
      ['1.5', 1.5],
      ['1,5', 1.5],
      ['1 234', 1234],
    ] as const)
      expect(read(cell, 'number', OPEN)).to.equal(value);
  });

  it('days are read in several spellings and as serial numbers of both date systems', () => {
    for (const cell of ['2026-03-31', '2026/3/31', '2026.3.31', '2026年3月31日', '2026-03-31T23:30:00-11:00', 46112])
      expect(read(cell, 'day'), String(cell)).to.equal('2026-03-31');
    expect(read(46112.99, 'day')).to.equal('2026-03-31');
    expect(read(46112 - 1462, 'day', { ...POINT, date1904: true })).to.equal('2026-03-31');
    for (const cell of ['2026-02-30', '46112', 'soon', 0, -1, 1e9, true])
      isRefused(cell, 'day', /must be a calendar date/);
  });

  it('a day with the time of midnight, as spreadsheets write it, is that day, and another time is refused', () => {
    for (const cell of [
      '2026/3/5 00:00',
      '2026/3/5 0:00',
      '2026-03-05 00:00:00',
      '2026-03-05 00:00:00.000',
      '2026年3月5日 00:00',
      '05/03/2026 00:00:00',
      '5/3/2026 12:00:00 AM',
    ])
      expect(read(cell, 'day'), cell).to.equal('2026-03-05');
    expect(read('31/12/2026 00:00', 'day', OPEN)).to.equal('2026-12-31');
    for (const cell of ['2026/3/5 09:30', '2026-03-05 00:00:01', '2026-03-05 12:00:00', '3/5/2026 1:00 PM'])
      isRefused(cell, 'day', /^has a time of day; write the date alone, like 2026-03-31$/);
    for (const cell of ['soon 00:00', '00:00', '2026-03-05 24:00x', '2026-3/5', '2026/3/5.'])
      isRefused(cell, 'day', /must be a calendar date like/);
  });

  it('a date of a day that does not exist is refused with that reason', () => {
    for (const cell of ['31/02/2026', '2026-02-30', '2026/13/1', '2026年2月30日', '13/13/2026', '30.02.2026'])
      isRefused(cell, 'day', new RegExp(`^must be a calendar date, and the day ${cell} does not exist$`));
    isRefused('31/02/2026 00:00', 'day', /the day 31\/02\/2026 does not exist$/);
  });

  it('a date that ends with the year is read in the order of its file, and refused if the file has none', () => {
    for (const mark of ['/', '.', '-']) {
      const cell = `05${mark}03${mark}2026`;
      expect(read(cell, 'day')).to.equal('2026-03-05');
      expect(read(cell, 'day', { ...POINT, days: evidence('MDY') })).to.equal('2026-05-03');
      isRefused(cell, 'day', /may be 2026-03-05 or 2026-05-03: .*; write 2026-03-05 or 2026-05-03$/, OPEN);
      expect(read(`31${mark}12${mark}2026`, 'day', OPEN)).to.equal('2026-12-31');
      expect(read(`12${mark}31${mark}2026`, 'day', OPEN)).to.equal('2026-12-31');
      expect(read(`5${mark}5${mark}2026`, 'day', OPEN)).to.equal('2026-05-05');
    }
    for (const cell of ['31/12/26', '26.3.1', '1-2-03', '26年3月1日']) isRefused(cell, 'day', /year of two digits/);
    for (const cell of ['30/02/2026', '13/13/2026', '31/12.2026']) isRefused(cell, 'day', /must be a calendar date/);
  });

  it('a text cell keeps numbers as written, and refuses numbers that a spreadsheet has truncated', () => {
    for (const [cell, text] of [
      ['a', 'a'],
      [20260001, '20260001'],
      [0.1, '0.1'],
      [123456789012345, '123456789012345'],
      [1e-7, '0.0000001'],
      [true, 'true'],
      ["'=SUM(A1)", '=SUM(A1)'],
      ["''=x", "'=x"],
      ["'plain", "'plain"],
      ['＝全角', '＝全角'],
    ] as const)
      expect(read(cell, 'text')).to.equal(text);
    isRefused(6222021234567890, 'text', /more than 15 digits/);
  });

  it('lists are JSON', () => {
    expect(read('[{"label":"Gate","value":"4"}]', 'list')).to.deep.equal([{ label: 'Gate', value: '4' }]);
    for (const cell of ['a, b', '{"a":1}', '[1', '5', 5]) isRefused(cell, 'list', /must be a list as JSON/);
    isRefused(`[${'['.repeat(1_000_000)}`, 'list', /at most/);
    isRefused(`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'list', /at most 8 levels/);
    isRefused(`[${'1,'.repeat(400_000)}1]`, 'list', /at most 20000 values/);
  });

  it('a cell with a formula error is refused, whatever its kind', () => {
    for (const kind of ['text', 'number', 'day', 'list'] as const)
      for (const cell of ['#DIV/0!', '#N/A', ' #REF! ', '#VALUE!', '#NAME?'])
        isRefused(cell, kind, /error of a formula/);
    expect(read('#12', 'text')).to.equal('#12');
  });
});

describe('a header', () => {
  const names = (header: (string | null)[]) => matchHeader(header, []).targets.map((target) => target?.name);

  it('matches a field by its name or its English or Chinese label, ignoring case and spaces', () => {
    expect(names(['contractNo', ' CONTRACTNO '].slice(0, 1))).to.deep.equal(['contractNo']);
    expect(names([' Contract  NUMBER ', 'LINE.dueDate', '甲 方', 'Ｐａｒｔｙ　Ｂ', 'line.Amount'])).to.deep.equal([
      'contractNo',
      'line.dueDate',
      'partyA',
      'partyB',
      'line.amount',
    ]);
  });

  it('matches every column of an export by each of its three names, and no two columns share a name', () => {
    const read = [
      ...CONTRACT_COLUMNS.filter(({ field, insteadOf }) => field !== null || insteadOf !== undefined),
      ...LINE_COLUMNS,
    ];
    for (const label of [
      (column: (typeof read)[number]) => column.name,
      (column: (typeof read)[number]) => column.labels.en,
      (column: (typeof read)[number]) => column.labels.zh,
    ]) {
      expect(names(read.map(label))).to.deep.equal(read.map(({ name }) => name));
    }
    for (const column of SUMMARY_COLUMNS)
      for (const header of [column.name, column.labels.en, column.labels.zh])
        expect(names(['ownerSuperiorId', 'ownerId', header]), header).to.deep.equal([
          'ownerSuperiorId',
          'ownerId',
          column.name,
        ]);
  });

  it('treats the column "Owner" as the owner\'s name if no other column gives it', () => {
    expect([
      names(['Owner']),
      names(['负责人']),
      names(['Owner', 'Owner id']),
      names(['ownerEmail', 'owner']),
    ]).to.deep.equal([['ownerEmail'], ['ownerEmail'], ['ownerName', 'ownerId'], ['ownerEmail', 'ownerName']]);
  });

  it('has a column for every field of a request', () => {
    const fields = new Set([
      ...CONTRACT_COLUMNS.map(({ field }) => field),
      ...LINE_COLUMNS.map(({ field }) => `line.${field}`),
    ]);
    expect(Object.keys(ContractInput.properties).filter((field) => !fields.has(field as never))).to.deep.equal([
      'dynamicFields',
      'payments',
    ]);
    expect(Object.keys(PaymentLineInput.properties).filter((field) => !fields.has(`line.${field}`))).to.deep.equal([]);
  });

  it('reports an unknown name as written, and ignores an empty one', () => {
    const { targets, unknown } = matchHeader(['contractNo', ' Color ', null, 'error', 'cf:none'], []);
    expect(targets.map((target) => target?.name)).to.deep.equal([
      'contractNo',
      undefined,
      undefined,
      'error',
      undefined,
    ]);
    expect(unknown).to.deep.equal(['Color', 'cf:none']);
  });

  it('is refused if two columns are the same field, or none is known', async () => {
    const reason = async (header: string[]) => failureOf((async () => matchHeader(header, []))());
    expect(await reason(['contractNo', '合同编号'])).to.deep.equal({
      code: 'IMPORT_FILE_INVALID',
      details: {
        reason: 'two columns are for the field contractNo: "contractNo" and "合同编号"; remove or rename one of them',
      },
    });
    expect(await reason(['x', 'y'])).to.deep.equal({
      code: 'IMPORT_FILE_INVALID',
      details: { reason: 'no column has a known header; the first row must be the header, without a title above it' },
    });
  });
});
