import { expect } from 'chai';
import fc from 'fast-check';
import { addressIn } from '../../data-plane-agent/base/addresses.js';
import { asName } from '../../data-plane-agent/base/names.js';
import { partial, s } from '../../data-plane-agent/base/schema.js';
import { answerChecker } from '../../data-plane-agent/base/answer-check.js';
import { normalCut } from '../../data-plane-agent/base/text.js';
import { isCleanText } from '../../data-plane-agent/base/text.js';
import { checker, isBlankText, type Checked } from '../../data-plane-agent/base/validation.js';

const Thing = s.object({
  name: s.text({ max: 10 }),
  note: s.optional(s.text({ max: 10 })),
  due: s.optional(s.day()),
  currency: s.optional(s.currency()),
  email: s.optional(s.email()),
  amount: s.optional(s.amount()),
  status: s.optional(s.enum(['open', 'closed'])),
  secret: s.optional(s.verbatim({ min: 3, max: 10 })),
  extra: s.optional(s.free()),
  parts: s.optional(s.list(s.object({ code: s.text(), count: s.optional(s.integer({ min: 1 })) }), 3)),
});
const check = checker(Thing);
const issues = (result: Checked<unknown>) =>
  result.ok ? [] : result.issues.map(({ path, problem }) => `${path} ${problem}`);
const value = (input: unknown) => {
  const result = check(input);
  if (!result.ok) throw new Error(issues(result).join('; '));
  return result.value;
};

describe('validation', () => {
  it('trims texts, normalises them to NFC and unifies line ends', () => {
    expect(value({ name: '  Cafe\u0301\r\nx ' }).name).to.equal('Caf\u00e9\nx');
  });

  it('leaves other texts as they are, of whatever characters', () => {
    const texts = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '~', '!', ' ', '\t', '\n', '\r\n', '\u00a0', '\u00e9', 'e\u0301', '大') }),
      fc.string({ unit: 'binary-ascii' }),
      fc.string({ unit: 'binary' }),
    );
    const one = checker(s.object({ text: s.optional(s.text({ max: 1_000 })) }));
    fc.assert(
      fc.property(texts, (text) => {
        const checked = one({ text });
        const expected = text.replaceAll('\r\n', '\n').trim();
        if (checked.ok)
          expect(checked.value.text ?? '').to.equal(isBlankText(expected) ? '' : normalCut(expected, { max: 1_000 }));
        else expect(isCleanText(expected) && isCleanText(text)).to.equal(false);
      }),
      { seed: 20_261_123, numRuns: 5_000 },
    );
  });

  it('accepts JSON text of its schema, however often, and no other', () => {
    const inner = s.object({ a: s.integer({ max: 5 }), b: s.text({ max: 3 }) });
    const [one, other] = [
      checker(s.object({ json: s.jsonText(inner) })),
      checker(s.object({ json: s.jsonText(s.object({ a: s.integer({ max: 1 }) })) })),
    ];
    const json = JSON.stringify({ a: 5, b: 'x' });
    const refused = [
      '{"a":6,"b":"x"}',
      '{"a":5,"b":"xxxx"}',
      '{"a":5}',
      '{"a":5,"b":"x","c":1}',
      '{"a":5,"b":"x"',
      '',
      `${json},`,
      '{"a":5,"b":"\\u0000"}',
    ];
    for (let round = 0; round < 3; round++) {
      expect(one({ json })).to.deep.equal({ ok: true, value: { json } });
      for (const text of refused)
        expect(issues(one({ json: text })), text).to.deep.equal(['json must be JSON text that matches its schema']);
      expect(other({ json }).ok, 'valid by another schema').to.equal(false);
    }
  });

  it('accepts secrets exactly as they were sent', () => {
    expect(value({ name: 'x', secret: ' e\u0301 ' }).secret).to.equal(' e\u0301 ');
  });

  it('treats an empty string as no value in optional fields, and refuses it in required ones', () => {
    expect(value({ name: 'x', note: '   ', status: '', due: '' })).to.deep.equal({
      name: 'x',
      note: null,
      status: null,
      due: null,
    });
    expect(issues(check({ name: '   ' }))).to.deep.equal(['name must not be empty']);
  });

  it('treats a text of invisible characters only as empty, and keeps such characters in other texts', () => {
    for (const blank of ['\u200b', ' \u2060\u00ad ', '\ufeff', '\u3164\u3000', '\u202e\u200f']) {
      expect(issues(check({ name: blank })), JSON.stringify(blank)).to.deep.equal(['name must not be empty']);
      expect(value({ name: 'x', note: blank, status: blank })).to.deep.equal({ name: 'x', note: null, status: null });
    }
    expect(value({ name: ' 👩\u200d🔧\u200b ', secret: '\u200b\u200b\u200b' })).to.deep.equal({
      name: '👩\u200d🔧\u200b',
      secret: '\u200b\u200b\u200b',
    });
  });

  it('refuses names with bidirectional control characters, and keeps the joiners of scripts and emoji', () => {
    const named = checker(s.object({ name: s.name(), place: s.optional(s.plain()), note: s.optional(s.longText()) }));
    for (const code of [
      0x07, 0x1b, 0x7f, 0x85, 0x9b, 0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067,
      0x2068, 0x2069,
    ]) {
      const text = `a${String.fromCodePoint(code)}b`;
      const checked = named({ name: text, place: text });
      expect(checked.ok ? [] : checked.issues.map(({ path }) => path), code.toString(16)).to.deep.equal([
        'name',
        'place',
      ]);
    }
    for (const text of ['a\nb', 'a\tb', 'a\u2028b', 'a\u2029b']) {
      const checked = named({ name: text, place: text, note: text });
      expect(checked.ok ? [] : checked.issues).to.deep.equal([
        {
          path: 'name',
          problem: 'must be one line without control characters, bidirectional controls and invisible characters',
        },
      ]);
    }
    const fine = { name: 'می\u200cخواهم 👩\u200d🔧', place: 'a\n上海', note: 'a note\u200f\nof several lines' };
    expect(named({ ...fine })).to.deep.equal({ ok: true, value: fine });
  });

  it('refuses names with invisible characters, and removes these from names of other systems', () => {
    const named = checker(s.object({ name: s.name(), place: s.optional(s.plain()) }));
    for (const code of [
      0x200b, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x206a, 0x206b, 0x206c, 0x206d, 0x206e, 0x206f, 0xfeff, 0xfff9,
      0xfffa, 0xfffb, 0xe0000, 0xe0001, 0xe0041, 0xe007f,
    ]) {
      const text = `a${String.fromCodePoint(code)}b`;
      const checked = named({ name: text, place: text });
      expect(checked.ok ? [] : checked.issues.map(({ path }) => path), code.toString(16)).to.deep.equal(['name']);
      expect(asName(text), code.toString(16)).to.equal('ab');
    }
    expect(asName('می\u200cخواهم 👩\u200d🔧')).to.equal('می\u200cخواهم 👩\u200d🔧');
  });

  it('normalises an email address, and refuses one that lower-casing or NFC would turn into another, or that has invisible characters', () => {
    expect(addressIn(' J.Müller@Example.COM ')).to.equal('j.müller@example.com');
    expect(addressIn('u\u0308@a.test')).to.equal('ü@a.test');
    for (const email of ['\u212Aate@a.test', 'a@\u212Aa.test', '\u0130@a.test', 'a\u037E@a.test', '\u1FEFa@a.test']) {
      expect(addressIn(email), JSON.stringify(email)).to.equal(undefined);
      expect(issues(check({ name: 'x', email })), JSON.stringify(email)).to.deep.equal([
        'email must be an email address',
      ]);
    }
    for (const email of [
      'a\u200bb@a.test',
      'a\u00adb@a.test',
      'a\u200db@a.test',
      'a@a\u{e0041}.test',
      'a\u0600@a.test',
    ])
      expect(issues(check({ name: 'x', email })), JSON.stringify(email)).to.deep.equal([
        'email must be an email address',
      ]);
  });

  it('recognises a name from before that rule', () => {
    const schema = s.object({ list: s.list(s.object({ name: s.name({ max: 5 }) }), 5) });
    expect(answerChecker(schema)({ list: [{ name: 'a\u202eb' }] }).ok).to.equal(true);
    expect(
      answerChecker(schema)({ list: [{ name: 'a\u202ebcdef' }] }).ok,
      'what else is declared still holds',
    ).to.equal(false);
  });

  it('names a field of a response within lists, and within the JSON text of a list', () => {
    const lines = s.list(s.object({ parts: s.list(s.object({ name: s.name({ max: 5 }) }), 2) }), 2);
    const schema = s.object({ items: lines, texts: s.list(s.jsonText(s.object({ lines })), 2) });
    const list = (name: string) => [{ parts: [{ name: 'a' }, { name }] }];
    const texts = (name: string) => [JSON.stringify({ lines: list(name) })];
    const checked = (value: unknown) => issues(answerChecker(schema)(value));
    expect(answerChecker(schema)({ items: list('b'), texts: texts('b') }).ok).to.equal(true);
    expect(checked({ items: list('too long'), texts: texts('b') })).to.deep.equal([
      'items[0].parts[1].name must have at most 5 characters',
    ]);
    expect(checked({ items: list('b'), texts: [...texts('b'), ...texts('too long')] })).to.deep.equal([
      'texts[1] must be JSON text that matches its schema',
    ]);
    expect(checked({ items: [{ parts: [{ name: 'b', more: 1 }] }], texts: [] })).to.deep.equal([
      'items[0].parts[0].more is not a known field',
    ]);
  });

  it('refuses fields of a response that are named like those of every object', () => {
    const schema = s.object({ name: s.text(), list: s.list(s.object({ name: s.text() }), 2) });
    const checked = (json: string) => issues(answerChecker(schema)(JSON.parse(json)));
    expect(checked('{"name":"x","list":[{"name":"y"}]}')).to.deep.equal([]);
    for (const field of ['__proto__', 'constructor', 'toString']) {
      expect(checked(`{"name":"x","list":[],"${field}":1}`)).to.deep.equal([`${field} is not a known field`]);
      expect(checked(`{"name":"x","list":[{"name":"y","${field}":{}}]}`)).to.deep.equal([
        `list[0].${field} is not a known field`,
      ]);
    }
    expect(checked('{"__proto__":{"name":"x"},"list":[]}')).to.include('name is required');
  });

  it('keeps the calendar day of a timestamp as written', () => {
    expect(value({ name: 'x', due: '2026-03-31T23:30:00+09:00' }).due).to.equal('2026-03-31');
    expect(issues(check({ name: 'x', due: '2026-02-30' }))).to.deep.equal([
      'due must be a calendar date like 2026-03-31',
    ]);
  });

  it('upper-cases currencies and lower-cases email addresses', () => {
    expect(value({ name: 'x', currency: 'cny', email: ' A.B@Example.COM ' })).to.include({
      currency: 'CNY',
      email: 'a.b@example.com',
    });
    expect(issues(check({ name: 'x', currency: 'abc', email: 'nobody' }))).to.deep.equal([
      'currency must be an ISO 4217 currency code like EUR',
      'email must be an email address',
    ]);
  });

  it('names each bad field once, by its path, and no valid field', () => {
    const result = check({
      name: 5,
      note: 'x'.repeat(11),
      amount: -1,
      status: 'ajar',
      parts: [{ code: 'a' }, { count: 0 }, { code: 'c', count: 1.5, colour: 1 }],
      oops: true,
    });
    expect(issues(result).toSorted()).to.deep.equal([
      'amount must be >= 0',
      'name must be a string',
      'note must have at most 10 characters',
      'oops is not a known field',
      'parts[1].code is required',
      'parts[1].count must be >= 1',
      'parts[2].colour is not a known field',
      'parts[2].count must be a whole number',
      'status must be one of open, closed',
    ]);
  });

  it('refuses control characters, lone surrogates and non-JSON values in free objects', () => {
    for (const name of ['a\u0000b', 'a\u001fb', 'a\ud800b', '\u007f'])
      expect(issues(check({ name })), JSON.stringify(name)).to.deep.equal([
        'name must not contain control characters or broken Unicode',
      ]);
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
    for (const extra of [
      JSON.parse('{"__proto__": {"x": 1}}') as unknown,
      { a: 'x\u0000' },
      { a: 'x'.repeat(17_000) },
      nested(20),
    ]) {
      expect(issues(check({ name: 'x', extra }))).to.deep.equal([
        'extra must be plain JSON of at most 16 KB and eight levels',
      ]);
    }
    expect(value({ name: 'x', extra: { a: [1, { b: null }] } }).extra).to.deep.equal({ a: [1, { b: null }] });
  });

  it('refuses __proto__ and constructor as fields', () => {
    for (const key of ['__proto__', 'constructor'])
      expect(issues(check(JSON.parse(`{"name": "x", "${key}": 1}`)))).to.deep.equal([`${key} is not a known field`]);
  });

  it('stops collecting at a thousand bad fields', () => {
    const many = checker(s.object({ list: s.list(s.integer(), 5_000) }));
    expect(issues(many({ list: Array.from({ length: 5_000 }, () => 'x') }))).to.have.length(1_000);
  });

  it('lets a PATCH omit every field, and clear optional fields only', () => {
    const patch = checker(partial(Thing));
    expect(patch({}).ok).to.equal(true);
    expect(patch({ note: null })).to.deep.equal({ ok: true, value: { note: null } });
    expect(issues(patch({ name: null }))).to.deep.equal(['name must be a string']);
  });
});
