import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalHash, isLatin, jsonBytes, stringifyYielding } from '../../data-plane-agent/base/json-pieces.js';

/** As large values arise: many members, long texts, and characters of two, three and four bytes at every place. */
const large = fc
  .record({
    items: fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.json()), { maxLength: 40 }),
    text: fc.string({ unit: 'binary', maxLength: 50 }),
    times: fc.integer({ min: 0, max: 3_000 }),
    nothing: fc.constantFrom(undefined, null),
  })
  .map(({ items, text, times, nothing }) => ({ items, nothing, text: text.repeat(times), end: [nothing, times] }));

/** The JSON of a value whose objects have their keys in order, written without regard to length. */
const ordered = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return value === undefined ? 'null' : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(ordered).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${ordered(one)}`).join()}}`;
};

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

  it('has the same hash in whatever order its keys are, short or long', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(large, fc.jsonValue()), async (value) => {
        const expected = createHash('sha256').update(ordered(value)).digest('hex');
        expect(await canonicalHash(value)).to.equal(expected);
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
