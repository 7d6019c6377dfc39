import { expect } from 'chai';
import fc from 'fast-check';
import { isLatin, jsonBytes, stringifyYielding } from '../../data-plane-agent/base/json-pieces.js';

/** As large values arise: many members, long texts, and characters of two, three and four bytes at every place. */
const large = fc
  .record({
    items: fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.json()), { maxLength: 40 }),
    text: fc.string({ unit: 'binary', maxLength: 50 }),
    times: fc.integer({ min: 0, max: 3_000 }),
    nothing: fc.constantFrom(undefined, null),
  })
  .map(({ items, text, times, nothing }) => ({ items, nothing, text: text.repeat(times), end: [nothing, times] }));

describe('JSON that is written piece by piece', () => {
  it('is that of JSON.stringify, as text and as bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(large, fc.jsonValue()), async (value) => {
        const expected = JSON.stringify(value);
        expect(await stringifyYielding(value)).to.equal(expected);
        expect((await jsonBytes(value)).equals(Buffer.from(expected))).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('is Latin-1 without any character beyond it, at any depth', () => {
    const text = 'Miete für März \u00ff';
    expect([text, 7, null, undefined, { a: [text, { b: text }] }].map(isLatin)).to.deep.equal([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['租', '\u0100', { a: [text, { b: `${text}租` }] }].map(isLatin)).to.deep.equal([false, false, false]);
  });
});
