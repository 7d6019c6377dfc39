import { expect } from 'chai';
import type { CellKind } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS, SUMMARY_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import type { SheetCell } from '../../data-plane-agent/plane/contract/records/sheet.js';
import { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { readCell } from '../../data-plane-agent/plane/domain/sheet/cells.js';
import { matchHeader } from '../../data-plane-agent/plane/domain/sheet/headers.js';
import { failureOf } from '../support/failures.js';

const PLAIN = { decimalComma: false, date1904: false };
const read = (cell: SheetCell, kind: CellKind, sheet: Partial<typeof PLAIN> = {}): unknown => {
  const result = readCell(cell, kind, { ...PLAIN, ...sheet });
  return result.ok ? result.value : new Error(result.problem);
};
const isRefused = (cell: SheetCell, kind: CellKind, says: RegExp, sheet: Partial<typeof PLAIN> = {}): void => {
  const result = read(cell, kind, sheet);
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
    for (const cell of ['1,5', '1234,56', '12,34', '1.2.3', '--1', '1e5', 'one', '1/2', '(5)', '5%', '0x10', 'NaN'])
      isRefused(cell, 'number', /must be a number/);
    for (const cell of ['¥100', '100 CNY', '$5', '5元']) isRefused(cell, 'number', /without a currency/);
    for (const cell of [true, false]) isRefused(cell, 'number', /must be a number/);
  });

  it('a long text in a number cell is refused quickly', () => {
    // A regular expression that backtracks from each space would take minutes.
    for (const space of [' ', '\u00a0'])
      expect(read(`1${space.repeat(300_000)}!`, 'number'))
        .to.have.property('message')
        .that.matches(/must be a number/);
  });

  it('a file with semicolons may use the decimal comma, but not one that may separate thousands', () => {
    const comma = { decimalComma: true };
    for (const [cell, number] of [
      ['1234,56', 1234.56],
      ['0,5', 0.5],
      ['-7,25', -7.25],
      ['1.234,56', 1234.56],
      ['1234.56', 1234.56],
      ['12', 12],
    ] as const)
      expect(read(cell, 'number', comma), cell).to.equal(number);
    isRefused('1,234', 'number', /may mean thousands or decimals/, comma);
  });

  it('days are read in three spellings and as serial numbers of both date systems', () => {
    for (const cell of ['2026-03-31', '2026/3/31', '2026年3月31日', '2026-03-31T23:30:00-11:00', 46112])
      expect(read(cell, 'day'), String(cell)).to.equal('2026-03-31');
    expect(read(46112.99, 'day')).to.equal('2026-03-31');
    expect(read(46112 - 1462, 'day', { date1904: true })).to.equal('2026-03-31');
    for (const cell of ['2026-02-30', '31.03.2026', '3/31/2026', '46112', 'soon', 0, -1, 1e9, true])
      isRefused(cell, 'day', /must be a calendar date/);
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
      details: { reason: 'two columns are for the field contractNo' },
    });
    expect(await reason(['x', 'y'])).to.deep.equal({
      code: 'IMPORT_FILE_INVALID',
      details: { reason: 'no column has a known header' },
    });
  });
});
