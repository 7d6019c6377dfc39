import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { FieldOption, FieldType } from '../../data-plane-agent/plane/contract/records/fields.js';
import {
  checkedValue,
  valueFromText,
  valueText,
  type ValueType,
} from '../../data-plane-agent/plane/domain/fields/values.js';

const option = (label: string, archived = false): FieldOption => ({
  id: newId(),
  label,
  color: null,
  order: 1,
  archived,
});
const OPTIONS = [
  option('Red'),
  option('a, b'),
  option('[x]'),
  option('Red; Blue'),
  option('合同、附件'),
  option('old', true),
];
const [RED, COMMA, , , , OLD] = OPTIONS.map(({ id }) => id);
const MEMBERS = [{ id: newId(), name: 'Ming Li', email: 'ming@example.test', active: true }];
const field = (type: FieldType, settings: ValueType['settings'] = {}): ValueType => ({
  type,
  options: OPTIONS,
  settings: type === 'currency' ? { currencyCode: 'CNY', ...settings } : settings,
});

const problem = (type: FieldType, raw: unknown, settings: ValueType['settings'] = {}): string => {
  const read = checkedValue(field(type, settings), raw);
  return read.ok ? `taken as ${JSON.stringify(read.value)}` : read.problem;
};

describe('custom values', () => {
  const TAKEN: readonly (readonly [FieldType, unknown, unknown])[] = [
    ['text', '  e\u0301t\u00e9 ', 'été'],
    ['text', '💶'.repeat(500), '💶'.repeat(500)],
    ['long_text', 'a\r\nb', 'a\nb'],
    ['number', -0, 0],
    ['number', 0.1, 0.1],
    ['number', 1e15, 1e15],
    ['number', 0.0000000001, 1e-10],
    ['percent', 13, 13],
    ['currency', 0.01, 0.01],
    ['currency', -5, -5],
    ['date', '2024-02-29', '2024-02-29'],
    ['date', '2026-03-01T23:30:00.000-11:00', '2026-03-01'],
    ['datetime', '2026-03-01T10:00:00+08:00', '2026-03-01T02:00:00.000Z'],
    ['datetime', '2026-03-01T10:00Z', '2026-03-01T10:00:00.000Z'],
    ['boolean', false, false],
    ['select', RED, RED],
    ['multi_select', [COMMA, RED], [COMMA, RED]],
    ['url', 'https://example.test/a?b#c', 'https://example.test/a?b#c'],
    ['email', ' Ming@Example.TEST ', 'ming@example.test'],
    ['phone', '+86 (21) 5555-0100 ext. 12', '+86 (21) 5555-0100 ext. 12'],
    ['user', 'anybody', 'anybody'],
    ['file', 'any file', 'any file'],
  ];
  for (const [type, raw, kept] of TAKEN)
    it(`${type}: ${JSON.stringify(raw).slice(0, 40)} is accepted`, () =>
      expect(checkedValue(field(type), raw)).to.deep.equal({ ok: true, value: kept }));

  const REFUSED: readonly (readonly [FieldType, unknown, string])[] = [
    ['text', 5, 'must be a string'],
    ['text', 'x'.repeat(501), 'must have at most 500 characters'],
    ['text', 'a\u0000b', 'must not contain control characters or broken Unicode'],
    ['long_text', 'x'.repeat(10_001), 'must have at most 10000 characters'],
    ['number', '5', 'must be a number'],
    ['number', true, 'must be a number'],
    ['number', 0.12345678901, 'must have at most 10 decimals'],
    ['number', 1.1e15, 'must be between -1000000000000000 and 1000000000000000'],
    ['currency', 0.001, 'must have at most 2 decimals in CNY'],
    ['currency', 9.1e12, 'must be <= 9000000000000 in CNY'],
    ['date', '2026-02-30', 'must be a calendar date like 2026-03-31'],
    ['date', '2026/3/1', 'must be a calendar date like 2026-03-31'],
    ['date', 20260301, 'must be a string'],
    ['datetime', '2026-03-01', 'must be an instant with its zone, like 2026-03-31T09:30:00Z'],
    ['datetime', '2026-03-01T10:00:00', 'must be an instant with its zone, like 2026-03-31T09:30:00Z'],
    ['datetime', '2026-02-30T10:00:00Z', 'must be an instant with its zone, like 2026-03-31T09:30:00Z'],
    ['datetime', '2026-03-01T24:30:00Z', 'must be an instant with its zone, like 2026-03-31T09:30:00Z'],
    ['boolean', 'true', 'must be true or false'],
    ['boolean', 1, 'must be true or false'],
    ['select', 'Red', "must be the id of one of the field's options"],
    ['select', OLD, "must be the id of one of the field's options"],
    ['select', [RED], 'must be a string'],
    ['multi_select', RED, 'must be a list'],
    ['multi_select', [RED, RED], 'must not name an option twice'],
    ['multi_select', [RED, 5], "must be a list of ids of the field's options"],
    ['multi_select', [OLD], "must be a list of ids of the field's options"],
    ['url', 'example.test', 'must be a web address like https://example.com'],
    ['url', 'javascript:alert(1)', 'must be a web address like https://example.com'],
    ['url', 'https://', 'must be a web address like https://example.com'],
    ['url', 'https://a b', 'must be a web address like https://example.com'],
    ['email', 'nobody', 'must be an email address'],
    ['phone', '12', 'must be a phone number like +86 21 5555 0100'],
    ['phone', 'call me', 'must be a phone number like +86 21 5555 0100'],
    ['user', { id: 1 }, 'must be a string'],
  ];
  for (const [type, raw, reported] of REFUSED)
    it(`${type}: ${JSON.stringify(raw).slice(0, 40)} ${reported}`, () => expect(problem(type, raw)).to.equal(reported));

  it('are null for blank texts and empty lists, in every type', () => {
    for (const type of ['text', 'number', 'date', 'select', 'multi_select', 'boolean', 'user'] as const)
      for (const raw of [null, '', ' \t\n', []])
        expect(checkedValue(field(type), raw), type).to.deep.equal({ ok: true, value: null });
  });

  it('are restricted by the settings of their field', () => {
    expect(problem('number', 1.25, { precision: 1 })).to.equal('must have at most 1 decimals');
    expect(problem('number', 4, { min: 5 })).to.equal('must be >= 5');
    expect(problem('percent', 101, { max: 100 })).to.equal('must be <= 100');
    expect(problem('text', 'abc', { maxLength: 2 })).to.equal('must have at most 2 characters');
    expect(problem('currency', 1.5, { currencyCode: 'JPY' })).to.equal('must have at most 0 decimals in JPY');
    expect(problem('currency', 1.125, { currencyCode: 'KWD' })).to.equal('taken as 1.125');
    expect(problem('currency', 1.5, { precision: 0 })).to.equal('must have at most 0 decimals');
    // Settings of another type have no effect.
    expect(problem('text', 'abc', { min: 5, precision: 0 })).to.equal('taken as "abc"');
  });

  it('may keep an option that was removed', () => {
    expect(checkedValue(field('select'), OLD, { kept: OLD })).to.deep.equal({ ok: true, value: OLD });
    expect(checkedValue(field('multi_select'), [RED, OLD], { kept: [OLD] })).to.deep.equal({
      ok: true,
      value: [RED, OLD],
    });
    expect(checkedValue(field('multi_select'), [RED, OLD], { kept: [RED] }).ok).to.equal(false);
  });

  it('are restored from the cell of a sheet that they were written to', () => {
    const id = fc.constantFrom(...OPTIONS.map((known) => known.id));
    const values = fc.oneof(
      fc.tuple(fc.constantFrom<FieldType>('text', 'long_text'), fc.string({ unit: 'grapheme', maxLength: 60 })),
      fc.tuple(
        fc.constantFrom<FieldType>('number', 'percent'),
        fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => Number(value.toFixed(9))),
      ),
      fc.tuple(
        fc.constant<FieldType>('currency'),
        fc.integer({ min: -1e9, max: 1e9 }).map((minor) => minor / 100),
      ),
      fc.tuple(
        fc.constant<FieldType>('datetime'),
        fc
          .date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
          .map((at) => at.toISOString()),
      ),
      fc.tuple(fc.constant<FieldType>('boolean'), fc.boolean()),
      fc.tuple(fc.constant<FieldType>('select'), id),
      fc.tuple(fc.constant<FieldType>('multi_select'), fc.uniqueArray(id, { minLength: 1, maxLength: 6 })),
      fc.tuple(fc.constant<FieldType>('user'), fc.constantFrom(...MEMBERS.map((member) => member.id), newId())),
    );
    fc.assert(
      fc.property(values, ([type, raw]) => {
        const read = checkedValue(field(type), raw, { removedOptions: true });
        if (!read.ok) return;
        expect(
          valueFromText(field(type), valueText(field(type), read.value, { members: MEMBERS }), { members: MEMBERS }),
        ).to.deep.equal(read);
      }),
      { numRuns: 500 },
    );
  });

  it('have readable cells, and accept the usual spellings', () => {
    expect(valueText(field('multi_select'), [RED, OLD])).to.equal('Red, old');
    expect(valueText(field('multi_select'), [RED, COMMA])).to.equal('["Red","a, b"]');
    expect(valueText(field('user'), MEMBERS[0]?.id, { members: MEMBERS })).to.equal('ming@example.test');
    expect(valueText(field('number'), 1e-7)).to.equal('0.0000001');
    expect(valueText(field('boolean'), undefined)).to.equal('');
    const read = (type: FieldType, text: string) =>
      valueFromText(field(type), text, { members: MEMBERS, timeZone: 'Asia/Shanghai' });
    expect(read('date', '2026年3月1日')).to.deep.equal({ ok: true, value: '2026-03-01' });
    expect(read('datetime', '2026-03-01 08:30')).to.deep.equal({ ok: true, value: '2026-03-01T00:30:00.000Z' });
    expect(read('number', ' 1,234.5 ')).to.deep.equal({ ok: true, value: 1234.5 });
    expect(read('boolean', '是')).to.deep.equal({ ok: true, value: true });
    expect(read('select', 'RED')).to.deep.equal({ ok: true, value: RED });
    expect(read('multi_select', 'red; OLD')).to.deep.equal({ ok: true, value: [RED, OLD] });
    expect(read('user', 'Ming Li')).to.deep.equal({ ok: true, value: MEMBERS[0]?.id });
    expect(read('select', 'Green')).to.deep.equal({ ok: false, problem: "must be one of the field's options" });
    expect(read('multi_select', 'Red, Green')).to.deep.equal({
      ok: false,
      problem: "must be a list of the field's options",
    });
    expect(read('number', 'five')).to.deep.equal({ ok: false, problem: 'must be a number' });
    expect(read('text', '  ')).to.deep.equal({ ok: true, value: null });
  });
});
