import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import {
  MAX_KNOWN_OPTIONS,
  MAX_OPTIONS,
  type FieldOption,
  type FieldType,
} from '../../data-plane-agent/plane/contract/records/fields.js';
import { labelsFor, LOST } from '../../data-plane-agent/plane/domain/fields/convert.js';
import { numberIn } from '../../data-plane-agent/plane/domain/fields/numbers.js';
import { isPhone, memberById, memberNamed, partsOf } from '../../data-plane-agent/plane/domain/fields/texts.js';
import {
  checkedValue,
  optionNamed,
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
const member = (name: string, email: string, active = true) => ({ id: newId(), name, email, active });
const choice = (options: readonly FieldOption[], type: FieldType = 'multi_select'): ValueType => ({
  type,
  options: [...options],
  settings: {},
});
const problem = (read: ReturnType<typeof checkedValue>): string =>
  read.ok ? `taken as ${JSON.stringify(read.value).slice(0, 60)}` : read.problem;
const NAMES_OF_OBJECTS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''];

describe('finding a member by text', () => {
  it('matches the id, the address in any case, and the name', () => {
    const [ming, ada] = [member('Ming Li', 'Ming@Example.test'), member('Ada', 'ada@example.test')];
    const members = [ming, ada];
    expect([ming.id, 'ming@example.TEST', 'Ming Li'].map((text) => memberNamed(members, text))).to.deep.equal([
      ming,
      ming,
      ming,
    ]);
    expect([
      memberById(members, ada.id),
      memberById(members, 'Ada'),
      memberById(members, 'ada@example.test'),
    ]).to.deep.equal([ada, undefined, undefined]);
    expect(
      ['ming li', 'Ming  Li', ming.id.toUpperCase(), 'ming', ...NAMES_OF_OBJECTS].map((text) =>
        memberNamed(members, text),
      ),
    ).to.deep.equal(Array.from({ length: 9 }, () => undefined));
    expect(NAMES_OF_OBJECTS.map((text) => memberById(members, text))).to.deep.equal(
      NAMES_OF_OBJECTS.map(() => undefined),
    );
  });

  it('prefers the id to the address, and the address to the name', () => {
    const ada = member('Ada', 'ada@example.test');
    const [asId, asAddress] = [member(ada.id, 'one@example.test'), member('ada@example.test', 'two@example.test')];
    expect(['ada@example.test', ada.id].map((text) => memberNamed([asId, asAddress, ada], text))).to.deep.equal([
      ada,
      ada,
    ]);
  });

  it('matches no shared name, unless only one of its members is active', () => {
    const named = (...active: readonly boolean[]) =>
      active.map((isActive, i) => member('Jo Doe', `jo-${i}@example.test`, isActive));
    const of = (members: readonly ReturnType<typeof member>[]) => memberNamed(members, 'Jo Doe')?.email;
    expect([of(named(true, true)), of(named(false, false)), of(named(true, false, true))]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    expect([
      of(named(false, true)),
      of(named(true, false)),
      of(named(false, false, true)),
      of(named(false)),
    ]).to.deep.equal(['jo-1@example.test', 'jo-0@example.test', 'jo-2@example.test', 'jo-0@example.test']);
  });

  it('matches the first of two members with one address in different cases', () => {
    const twins = [member('A', 'X@example.test'), member('B', 'x@example.test')];
    expect(memberNamed(twins, 'x@EXAMPLE.test')).to.equal(twins[0]);
  });

  it('uses the given list, whichever list was searched before', () => {
    const lists = [[member('Ming', 'a@example.test')], [member('Ming', 'b@example.test')], []];
    for (const _round of [1, 2])
      expect(lists.map((members) => memberNamed(members, 'Ming')?.email)).to.deep.equal([
        'a@example.test',
        'b@example.test',
        undefined,
      ]);
  });

  it('accepts cells in any Unicode form, and keeps the text as written without a match', () => {
    const [zoe, joined] = [member('Zoë', 'zoe@example.test'), member('👩‍🔧 Wu', 'wu@example.test')];
    const read = (text: string) =>
      valueFromText({ type: 'user', options: [], settings: {} }, text, { members: [zoe, joined] });
    expect([read('Zoe\u0308'), read(' Zoë\r\n'), read('👩‍🔧 Wu')]).to.deep.equal(
      [zoe.id, zoe.id, joined.id].map((value) => ({ ok: true, value })),
    );
    // Without the joiner it is a different text; resolving the member is checked elsewhere.
    expect(read('👩🔧 Wu')).to.deep.equal({ ok: true, value: '👩🔧 Wu' });
  });
});

describe('finding an option by text', () => {
  it('matches the id, the label, and the label in another case, preferring the exact label', () => {
    const [shout, red, umlaut] = [option('RED', true), option('Red'), option('Grün')];
    const options = [shout, red, umlaut];
    expect([red.id, 'Red', 'RED', 'red', 'GRÜN'].map((text) => optionNamed(options, text))).to.deep.equal([
      red,
      red,
      shout,
      shout,
      umlaut,
    ]);
    expect(
      ['Gr\u0075\u0308n', 'Reds', red.id.toUpperCase(), ...NAMES_OF_OBJECTS].map((text) => optionNamed(options, text)),
    ).to.deep.equal(Array.from({ length: 8 }, () => undefined));
    expect(valueFromText(choice(options, 'select'), 'Gr\u0075\u0308n'), 'a cell is normalised first').to.deep.equal({
      ok: true,
      value: umlaut.id,
    });
  });

  it('uses the given field, also after its options change', () => {
    const before = [option('A')];
    const after = [...before, option('B')];
    for (const _round of [1, 2])
      expect([optionNamed(before, 'B'), optionNamed(after, 'B'), optionNamed([], 'A')]).to.deep.equal([
        undefined,
        after[1],
        undefined,
      ]);
  });

  it('matches labels of at most a hundred characters, including emoji, and no longer text', () => {
    const [longest, beyond] = [option('💶'.repeat(100)), option('x'.repeat(201))];
    expect(optionNamed([longest, beyond], '💶'.repeat(100))).to.equal(longest);
    expect(optionNamed([longest, beyond], 'x'.repeat(201))).to.equal(undefined);
    const texts = {
      from: { type: 'text', options: [], settings: {} },
      to: choice([], 'select'),
      context: { timeZone: 'UTC', members: [], fileName: () => undefined },
    } as const;
    expect([
      labelsFor('💶'.repeat(100), texts),
      labelsFor('💶'.repeat(101), texts),
      labelsFor('x'.repeat(101), texts),
    ]).to.deep.equal([['💶'.repeat(100)], LOST, LOST]);
  });
});

describe('a list of options', () => {
  const many = Array.from({ length: MAX_OPTIONS + 1 }, (_, i) => option(`label ${i}`));
  const ids = many.map(({ id }) => id);

  it('has at most the maximum number of options, each once, and none of another field', () => {
    const field = choice(many);
    expect(checkedValue(field, ids.slice(0, MAX_OPTIONS))).to.deep.equal({
      ok: true,
      value: ids.slice(0, MAX_OPTIONS),
    });
    expect(problem(checkedValue(field, ids))).to.equal('must have at most 500 items');
    expect(problem(checkedValue(field, [...ids.slice(0, 499), ids[0]]))).to.equal('must not name an option twice');
    for (const wrong of [newId(), 'label 1', ids[0]?.toUpperCase(), null, {}, 7, '__proto__', '\u200b'])
      expect(problem(checkedValue(field, [ids[0], wrong])), JSON.stringify(wrong)).to.equal(
        "must be a list of ids of the field's options",
      );
  });

  it('names each option of a cell once, up to the maximum number', () => {
    const field = choice(many);
    const labels = many.map(({ label }) => label);
    expect(valueFromText(field, labels.slice(0, MAX_OPTIONS).join(', '))).to.deep.equal({
      ok: true,
      value: ids.slice(0, MAX_OPTIONS),
    });
    expect(problem(valueFromText(field, labels.join(',')))).to.equal('must have at most 500 items');
    expect(problem(valueFromText(field, JSON.stringify(labels)))).to.equal('must have at most 500 items');
    for (const many of [
      Array.from({ length: MAX_OPTIONS + 1 }, (_, i) => `nothing ${i}`),
      Array.from({ length: MAX_OPTIONS + 1 }, () => 'label 3'),
    ])
      expect(problem(valueFromText(field, JSON.stringify(many)))).to.equal('must have at most 500 items');
    expect(valueFromText(field, Array.from({ length: MAX_KNOWN_OPTIONS }, () => 'LABEL 3').join('、'))).to.deep.equal({
      ok: true,
      value: [ids[3]],
    });
    expect(valueFromText(field, `label 3; ${ids[3] ?? ''}，Label 3`)).to.deep.equal({ ok: true, value: [ids[3]] });
    expect(valueFromText(field, '[]')).to.deep.equal({ ok: true, value: null });
    for (const wrong of ['label 1, nothing', '["label 1", 5]', '{"a":1}', '[["label 1"]]', 'label 1 label 2'])
      expect(problem(valueFromText(field, wrong)), wrong).to.equal("must be a list of the field's options");
  });

  it('may be as long as the longest exported list, and longer text is not parsed', () => {
    const long = Array.from({ length: MAX_OPTIONS }, (_, i) =>
      option(`${String(i).padStart(3, '0')}${'"'.repeat(97)}`),
    );
    const field = choice(long);
    const value = long.map(({ id }) => id);
    expect(valueFromText(field, valueText(field, value))).to.deep.equal({ ok: true, value });
    const longest = 202_000;
    expect(problem(valueFromText(field, 'x'.repeat(longest)))).to.equal("must be a list of the field's options");
    expect(problem(valueFromText(field, 'x'.repeat(longest + 1)))).to.equal('must have at most 500 items');
  });

  it('is separated by commas, semicolons and their Chinese forms only', () => {
    expect(partsOf(' a ,b;c、d，e；f,, ,a')).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(partsOf('a b\u3000c/d|e\nf')).to.deep.equal(['a b\u3000c/d|e\nf']);
  });
});

describe('texts at their maximum length', () => {
  const CAPS: readonly (readonly [type: FieldType, at: string, cap: number])[] = [
    ['text', '💶'.repeat(500), 500],
    ['text', 'e\u0301'.repeat(500), 500],
    ['text', '👨‍👩‍👧‍👦'.repeat(71) + 'abc', 500],
    ['long_text', '漢'.repeat(10_000), 10_000],
    ['url', `https://example.test/${'a'.repeat(479)}`, 500],
    ['email', `${'a'.repeat(241)}@example.test`, 254],
    ['phone', `5555${' '.repeat(35)}5`, 40],
    ['user', 'u'.repeat(100), 100],
    ['file', 'f'.repeat(100), 100],
  ];
  for (const [type, at, cap] of CAPS) {
    it(`${type} accepts ${cap} characters of ${JSON.stringify(at.slice(0, 5))} and no more`, () => {
      const field: ValueType = { type, options: [], settings: {} };
      expect(checkedValue(field, at)).to.deep.equal({ ok: true, value: at.normalize('NFC') });
      expect(problem(checkedValue(field, type === 'phone' ? `5${at}` : `${at}漢`))).to.equal(
        `must have at most ${cap} characters`,
      );
    });
  }

  it('are measured in their stored form', () => {
    // NFC decomposes this character into two.
    expect(problem(checkedValue({ type: 'text', options: [], settings: {} }, '\u0958'.repeat(251)))).to.equal(
      'must have at most 500 characters',
    );
    expect(checkedValue({ type: 'text', options: [], settings: {} }, '\u0958'.repeat(250)).ok).to.equal(true);
  });

  it('are no value if all characters are invisible, in a request and in a cell', () => {
    for (const type of ['text', 'number', 'select', 'multi_select', 'user', 'date'] as const) {
      for (const text of ['\u200b', '\ufeff\u2060', ' \u00ad\u200d ', '\u3164', '\u202e']) {
        expect(
          [checkedValue(choice([], type), text), valueFromText(choice([], type), text)],
          `${type} ${JSON.stringify(text)}`,
        ).to.deep.equal([
          { ok: true, value: null },
          { ok: true, value: null },
        ]);
      }
    }
    expect(checkedValue(choice([], 'text'), '\u200ba\u200b'), 'within other text they are kept').to.deep.equal({
      ok: true,
      value: '\u200ba\u200b',
    });
  });

  it('are limited in length as numbers and telephone numbers', () => {
    expect([numberIn(`1${' '.repeat(196)}CNY`), numberIn(`1${' '.repeat(197)}CNY`)]).to.deep.equal([1, undefined]);
    expect([numberIn(`${'0'.repeat(59)}7`), numberIn(`${'0'.repeat(60)}7`)]).to.deep.equal([7, undefined]);
    expect([isPhone(`5555${' '.repeat(95)}5`), isPhone(`5555${' '.repeat(96)}5`)]).to.deep.equal([true, false]);
    // Full-width digits and signs, and a currency sign without an ASCII equivalent.
    expect([numberIn('１２，３４５．５'), numberIn('￥１２'), numberIn('\u200b12'), numberIn('१२')]).to.deep.equal([
      12_345.5,
      12,
      undefined,
      undefined,
    ]);
  });
});
