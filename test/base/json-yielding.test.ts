import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonYielding } from '../../data-plane-agent/base/json-yielding.js';
import { beyond } from '../../data-plane-agent/base/json-limits.js';

const LIMITS = { levels: 32, values: 1_000_000, keys: 10_000 };

/**
 * JSON as people and attackers write it: with whitespace, duplicate keys and escapes, and with parts inserted, deleted
 * or repeated.
 */
const aKey = fc.constantFrom('a', 'b', '7', '__proto__', 'long'.repeat(6), '\\u0065\\"');
const aBlank = fc.constantFrom('', '', ' ', '\n\t ');
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      '1',
      '-1.5e3',
      'null',
      'true',
      '""',
      '"\\u0301\\\\"',
      '"x\\"}]y"',
      '"\\\\\\"]"',
      '"\\\\\\\\"',
      `"${'字'.repeat(40)}"`,
      '[]',
      '{}',
    ),
    fc
      .tuple(fc.array(tie('json'), { maxLength: 5 }), aBlank)
      .map(([items, blank]) => `[${blank}${items.join(`,${blank}`)}${blank}]`),
    fc
      .tuple(fc.array(fc.tuple(aKey, tie('json')), { maxLength: 5 }), aBlank)
      .map(([fields, blank]) => `{${fields.map(([key, value]) => `"${key}"${blank}:${value}`).join(`${blank},`)}}`),
  ),
}));
const spoilt = fc
  .tuple(json, fc.nat(), fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '1', '"a"', '"k":', 'e', '-'))
  .map(([text, at, token]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + token + text.slice(place + (token === '' ? 1 : 0));
  });

describe('JSON that is parsed in slices', () => {
  const parsed = (text: string, piece: number): Promise<string> =>
    parseJsonYielding(text, LIMITS, piece).then(
      (result) => JSON.stringify(result),
      (error: unknown) => (error instanceof SyntaxError ? 'no JSON' : Promise.reject(error as Error)),
    );
  const atOnce = (text: string): string => {
    try {
      return JSON.stringify({ value: JSON.parse(text) as unknown });
    } catch {
      return 'no JSON';
    }
  };

  it('gives the same result, or the same failure, as JSON.parse', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(json, spoilt), fc.integer({ min: 2, max: 24 }), async (text, piece) => {
        expect(await parsed(text, piece), text).to.equal(atOnce(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it('treats __proto__ like any other key', async () => {
    const result = await parseJsonYielding(`{"a":[${'1,'.repeat(50)}1],"__proto__":{"admin":true}}`, LIMITS, 8);
    expect('value' in result && Object.keys(result.value as object)).to.deep.equal(['a', '__proto__']);
    expect(({} as { admin?: boolean }).admin).to.equal(undefined);
  });

  it('exceeds the limits exactly when a count over the whole value does', async () => {
    const limits = fc.record({
      levels: fc.integer({ min: 1, max: 4 }),
      values: fc.integer({ min: 1, max: 20 }),
      keys: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(json, limits, async (text, bounds) => {
        const result = await parseJsonYielding(text, bounds, 3);
        expect('beyond' in result ? result.beyond : undefined, text).to.deep.equal(beyond(text, bounds));
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts levels exactly also in a text that is too short for the other limits', () => {
    const many = { values: 1_000, keys: 1_000 };
    for (const [text, levels] of [
      ['[[1]]', 2],
      ['[{"a":{}}]', 3],
      ['[[],[],[]]', 2],
      ['{"a":"[[[[","b":"{{"}', 1],
      ['["\\"[{",[]]', 2],
    ] as const) {
      expect(beyond(text, { ...many, levels }), text).to.equal(undefined);
      expect(beyond(text, { ...many, levels: levels - 1 })?.limit, text).to.equal('levels');
    }
    expect(beyond('[1,2,3]', { levels: 5, values: 3, keys: 1_000 })?.limit).to.equal('values');
    expect(beyond('{"a":1,"b":2}', { levels: 5, values: 1_000, keys: 1 })?.limit).to.equal('keys');
  });

  it('has limits for the lengths of keys, numbers and whitespace, which are parsed in one slice', async () => {
    const tokens = [
      [`{"${'a'.repeat(100_000)}":1}`, 'key'],
      [`{"a":${'1'.repeat(100_000)},"b":1}`, 'filler'],
      [`{"a":1,${' '.repeat(100_000)}"b":1}`, 'filler'],
    ] as const;
    for (const [text, limit] of tokens)
      expect(await parseJsonYielding(text, LIMITS)).to.have.nested.property('beyond.limit', limit);
    const long = { text: 'a\n"\u0301\\'.repeat(100_000), list: Array.from({ length: 30_000 }, (_, i) => ({ i })) };
    expect(await parseJsonYielding(JSON.stringify(long), LIMITS)).to.deep.equal({ value: long });
  });
});
