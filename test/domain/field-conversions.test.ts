import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../data-plane-agent/base/ids.js';
import {
  FIELD_TYPES,
  type FieldOption,
  type FieldType,
  type FieldValue,
} from '../../data-plane-agent/plane/contract/records/fields.js';
import {
  convert,
  labelsFor,
  LOST,
  type Conversion,
  type ConversionContext,
} from '../../data-plane-agent/plane/domain/fields/convert.js';
import { plainNumber } from '../../data-plane-agent/plane/domain/fields/numbers.js';
import { checkedValue, type ValueType } from '../../data-plane-agent/plane/domain/fields/values.js';

const MING = { id: newId(), name: 'Ming Li', email: 'ming@example.test', active: true };
const TWINS = [true, false].map((active) => ({
  id: newId(),
  name: 'Wei Zhang',
  email: `wei-${String(active)}@example.test`,
  active,
}));
const SAME_NAME = [1, 2].map((n) => ({ id: newId(), name: 'Jo Doe', email: `jo-${n}@example.test`, active: true }));
const FILE = newId();
const context: ConversionContext = {
  timeZone: 'Asia/Shanghai',
  dateFormat: 'DD/MM/YYYY',
  members: [MING, ...TWINS, ...SAME_NAME],
  fileName: (id) => (id === FILE ? 'offer.pdf' : undefined),
};

const option = (label: string, more: Partial<FieldOption> = {}): FieldOption => ({
  id: `id of ${label}`,
  label,
  color: null,
  order: 1,
  archived: false,
  ...more,
});
const CHOICES = [
  '12.5',
  '2026-03-01',
  'yes',
  'x@example.test',
  'https://example.test',
  '+86 21 5555 0100',
  'Ming Li',
  'plain words',
].map((label) => option(label));
const type = (name: FieldType, settings: ValueType['settings'] = {}): ValueType => ({
  type: name,
  options: name === 'select' || name === 'multi_select' ? CHOICES : [],
  settings: name === 'currency' ? { currencyCode: 'CNY', ...settings } : settings,
});

/** Values of each type, chosen so that conversions that depend on the value both succeed and fail. */
const SAMPLES: Readonly<Record<FieldType, readonly FieldValue[]>> = {
  text: [
    '12.5',
    '2026-03-01',
    'yes',
    'x@example.test',
    'https://example.test',
    '+86 21 5555 0100',
    'Ming Li',
    'plain words',
    'x'.repeat(101),
  ],
  long_text: [
    '12.5',
    '2026-03-01',
    'yes',
    'x@example.test',
    'https://example.test',
    '+86 21 5555 0100',
    'Ming Li',
    'plain words',
    'x'.repeat(501),
  ],
  number: [0, 1, -12.5, 9e12],
  currency: [0, 1, -12.5, 9e12],
  percent: [0, 1, 12.5, 100],
  date: ['2026-03-01', '0001-01-02', '9999-12-30'],
  datetime: ['2026-02-28T16:00:00.000Z', '2026-03-01T09:30:00.000Z'],
  boolean: [true, false],
  select: CHOICES.map(({ id }) => id),
  multi_select: [['id of 12.5'], ['id of yes', 'id of plain words']],
  url: ['https://example.test', 'http://example.test/a?b=c'],
  email: ['x@example.test'],
  phone: ['+86 21 5555 0100', '(021) 555-5010'],
  user: [MING.id],
  file: [FILE],
};

/** The columns and rows of the specification's table: ✓ always, ~ depends on the value, ✗ never. */
const COLUMNS: readonly (readonly FieldType[])[] = [
  ['text', 'long_text'],
  ['number', 'currency', 'percent'],
  ['date'],
  ['datetime'],
  ['boolean'],
  ['select'],
  ['multi_select'],
  ['url', 'email', 'phone'],
  ['user', 'file'],
];
const TABLE: readonly (readonly [from: readonly FieldType[], cells: string])[] = [
  [['text', 'long_text'], '✓ ~ ~ ~ ~ ~ ~ ~ ~'],
  [['number', 'currency', 'percent'], '✓ ✓ ✗ ✗ ~ ✓ ✓ ✗ ✗'],
  [['date'], '✓ ✗ ✓ ✓ ✗ ✓ ✗ ✗ ✗'],
  [['datetime'], '✓ ✗ ~ ✓ ✗ ✗ ✗ ✗ ✗'],
  [['boolean'], '✓ ✓ ✗ ✗ ✓ ✓ ✓ ✗ ✗'],
  [['select'], '✓ ~ ~ ~ ~ ✓ ✓ ~ ✗'],
  [['multi_select'], '✓ ✗ ✗ ✗ ✗ ~ ✓ ✗ ✗'],
  [['url', 'email', 'phone'], '✓ ✗ ✗ ✗ ✗ ✓ ✓ ~ ✗'],
  [['user', 'file'], '✓ ✗ ✗ ✗ ✗ ✗ ✗ ✗ ~'],
];

/** Refines a sign of the table by the specification's text. */
function signOf(from: FieldType, to: FieldType, sign: string): string {
  if (from === 'long_text' && to === 'text') return '~'; // longer than 500
  if (from === 'text' && to === 'select') return '~';
  if (to === 'file') return from === 'file' ? '✓' : '✗';
  if (from === 'user' || from === 'file') return sign === '~' ? (from === to ? '✓' : '✗') : sign;
  const contacts: readonly FieldType[] = ['url', 'email', 'phone'];
  // No valid address of one kind is a valid address of another.
  if (contacts.includes(from) && contacts.includes(to)) return from === to ? '✓' : '✗';
  return sign;
}

/** Mirrors the operation: labels of a choice are first made options. */
function inType(value: FieldValue, from: ValueType, to: ValueType): FieldValue | typeof LOST {
  const conversion: Conversion = { from, to, context };
  if (to.type !== 'select' && to.type !== 'multi_select') return convert(value, conversion);
  const labels = labelsFor(value, conversion);
  const options =
    labels === LOST
      ? []
      : labels
          .filter((label) => !CHOICES.some((known) => known.label === label.toLowerCase() || known.label === label))
          .map((label) => option(label));
  return convert(value, { ...conversion, to: { ...to, options: [...to.options, ...options] } });
}

describe('the conversion of a custom value', () => {
  for (const [sources, cells] of TABLE) {
    for (const from of sources) {
      const signs = cells.split(' ');
      const row = COLUMNS.flatMap((targets, i) => targets.map((to) => [to, signOf(from, to, signs[i] ?? '')] as const));

      it(`from ${from} follows the table in every cell`, () => {
        expect(row.map(([to]) => to).toSorted()).to.deep.equal([...FIELD_TYPES].toSorted());
        for (const [to, sign] of row) {
          const kept = SAMPLES[from].filter((value) => inType(value, type(from), type(to)) !== LOST).length;
          const seen = kept === SAMPLES[from].length ? '✓' : kept === 0 ? '✗' : '~';
          expect(seen, `${from} → ${to}`).to.equal(sign);
        }
      });
    }
  }

  /** The expected results. */
  const EXAMPLES: readonly (readonly [
    from: FieldType,
    value: FieldValue,
    to: FieldType,
    becomes: FieldValue | typeof LOST,
  ])[] = [
    ['text', '¥1,234.50', 'number', 1234.5],
    ['text', ' 1 234 567 ', 'number', 1234567],
    ['text', '1.234,56', 'number', 1234.56],
    ['text', '１２３', 'number', 123],
    ['text', '-5', 'number', -5],
    ['text', '12.5 %', 'percent', 12.5],
    ['text', 'USD 5', 'currency', 5],
    ['text', '5元', 'currency', 5],
    ['text', '007', 'number', 7],
    ['text', '1,5', 'number', LOST],
    ['text', '1,23', 'number', LOST],
    ['text', '5 kg', 'number', LOST],
    ['text', '1e5', 'number', LOST],
    ['text', '12345678901234567890', 'number', LOST],
    ['text', '0.12345678901', 'number', LOST],
    ['text', '5.005', 'currency', LOST],
    ['text', '2026-03-01', 'date', '2026-03-01'],
    ['text', '31/12/2026', 'date', '2026-12-31'],
    ['text', '2026年3月1日', 'date', '2026-03-01'],
    ['text', '2026/3/1', 'date', '2026-03-01'],
    ['text', '2026-02-30', 'date', LOST],
    ['text', '12/31/2026', 'date', LOST],
    ['text', '2026-03-01T10:00:00Z', 'date', LOST],
    ['text', '2026-03-01T10:00:00+08:00', 'datetime', '2026-03-01T02:00:00.000Z'],
    ['text', '2026-03-01 10:00', 'datetime', '2026-03-01T02:00:00.000Z'],
    ['text', '2026-03-01', 'datetime', '2026-02-28T16:00:00.000Z'],
    ['text', '2026-03-01 25:00', 'datetime', LOST],
    ['text', 'TRUE', 'boolean', true],
    ['text', 'Yes', 'boolean', true],
    ['text', '1', 'boolean', true],
    ['text', '是', 'boolean', true],
    ['text', 'false', 'boolean', false],
    ['text', 'no', 'boolean', false],
    ['text', '0', 'boolean', false],
    ['text', '否', 'boolean', false],
    ['text', 'maybe', 'boolean', LOST],
    ['text', 'plain words', 'select', 'id of plain words'],
    ['text', 'PLAIN words', 'select', 'id of plain words'],
    ['text', 'new', 'select', 'id of new'],
    ['text', 'a, b;c、d，a', 'multi_select', ['id of a', 'id of b', 'id of c', 'id of d']],
    ['text', ', ;', 'multi_select', LOST],
    ['text', 'Ming@Example.test', 'user', MING.id],
    ['text', 'Ming Li', 'user', MING.id],
    ['text', 'ming li', 'user', LOST],
    ['text', 'Wei Zhang', 'user', TWINS[0]?.id ?? ''],
    ['text', 'Jo Doe', 'user', LOST],
    ['text', FILE, 'file', LOST],
    ['text', 'HTTPS://example.test', 'url', 'HTTPS://example.test'],
    ['text', 'ftp://example.test', 'url', LOST],
    ['text', 'javascript:alert(1)', 'url', LOST],
    ['text', 'X@example.test', 'email', 'x@example.test'],
    ['number', 1234.5, 'text', '1234.5'],
    ['number', 1e-7, 'text', '0.0000001'],
    ['number', 1e15, 'text', '1000000000000000'],
    ['number', 1, 'boolean', true],
    ['number', 0, 'boolean', false],
    ['number', 2, 'boolean', LOST],
    ['number', 12.345, 'currency', LOST],
    ['number', 7, 'select', 'id of 7'],
    ['percent', 13, 'number', 13],
    ['date', '2026-03-01', 'datetime', '2026-02-28T16:00:00.000Z'],
    ['date', '2026-03-01', 'select', 'id of 2026-03-01'],
    ['datetime', '2026-02-28T16:00:00.000Z', 'date', '2026-03-01'],
    ['datetime', '2026-03-01T00:00:00.000Z', 'date', LOST],
    ['datetime', '2026-03-01T09:30:00.000Z', 'text', '2026-03-01T09:30:00.000Z'],
    ['boolean', true, 'text', 'true'],
    ['boolean', false, 'number', 0],
    ['boolean', true, 'select', 'id of true'],
    ['boolean', false, 'multi_select', ['id of false']],
    ['select', 'id of 12.5', 'text', '12.5'],
    ['select', 'id of 12.5', 'number', 12.5],
    ['select', 'id of yes', 'multi_select', ['id of yes']],
    ['multi_select', ['id of 12.5', 'id of yes'], 'text', '12.5, yes'],
    ['multi_select', ['id of yes'], 'select', 'id of yes'],
    ['multi_select', ['id of yes', 'id of 12.5'], 'select', LOST],
    ['email', 'x@example.test', 'multi_select', ['id of x@example.test']],
    ['user', MING.id, 'text', 'Ming Li'],
    ['file', FILE, 'long_text', 'offer.pdf'],
  ];
  for (const [from, value, to, becomes] of EXAMPLES) {
    it(`${from} ${JSON.stringify(value)} ${becomes === LOST ? `has no form as ${to}` : `as ${to} is ${JSON.stringify(becomes)}`}`, () => {
      expect(inType(value, type(from), type(to))).to.deep.equal(becomes);
    });
  }

  it("counts values that the target's settings refuse as lost", () => {
    expect(convert(1.25, { from: type('number'), to: type('number', { precision: 1 }), context })).to.equal(LOST);
    expect(convert(5, { from: type('number'), to: type('percent', { max: 4 }), context })).to.equal(LOST);
    expect(convert('abcdef', { from: type('text'), to: type('long_text', { maxLength: 5 }), context })).to.equal(LOST);
    expect(convert(10, { from: type('currency'), to: type('currency', { currencyCode: 'JPY' }), context })).to.equal(
      10,
    );
    expect(convert(10.5, { from: type('currency'), to: type('currency', { currencyCode: 'JPY' }), context })).to.equal(
      LOST,
    );
  });

  it('converts a day whose midnight the zone skips to its next hour, and back to the same day', () => {
    const there = { ...context, timeZone: 'America/Sao_Paulo' };
    const instant = convert('2018-11-04', { from: type('date'), to: type('datetime'), context: there });
    expect(instant).to.equal('2018-11-04T03:00:00.000Z');
    expect(convert('2018-11-04T03:00:00.000Z', { from: type('datetime'), to: type('date'), context: there })).to.equal(
      '2018-11-04',
    );
  });

  it('restores the value on the way back if it always succeeds', () => {
    const number = fc.oneof(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => Number(value.toFixed(6)) + 0),
    );
    const back = (value: FieldValue, there: FieldType, from: FieldType): FieldValue | typeof LOST => {
      const between = inType(value, type(from), type(there));
      return between === LOST ? LOST : inType(between, type(there), type(from));
    };
    fc.assert(fc.property(number, (value) => void expect(back(value, 'text', 'number')).to.equal(value)));
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom<FieldType>('text', 'number', 'percent'),
        (value, there) => void expect(back(value, there, 'boolean')).to.equal(value),
      ),
    );
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }),
        (at) =>
          void expect(back(at.toISOString().slice(0, 10), 'datetime', 'date')).to.equal(at.toISOString().slice(0, 10)),
      ),
    );
  });

  it('yields only values that the target accepts', () => {
    const anything = fc
      .constantFrom(...FIELD_TYPES)
      .chain((from) => fc.tuple(fc.constant(from), fc.constantFrom(...SAMPLES[from]), fc.constantFrom(...FIELD_TYPES)));
    fc.assert(
      fc.property(anything, ([from, value, to]) => {
        const converted = convert(value, { from: type(from), to: type(to), context });
        if (converted !== LOST) expect(checkedValue(type(to), converted)).to.deep.equal({ ok: true, value: converted });
      }),
    );
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (value) => void expect(Number(plainNumber(value))).to.equal(value + 0 === 0 ? 0 : value),
      ),
    );
  });
});
