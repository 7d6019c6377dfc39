import { expect } from 'chai';
import { convertedBy, listedBy, objectOf, valuesOf } from '../../data-plane-agent/base/compiled-objects.js';

/** Names that would end a string literal, or the text around it, if they were not escaped. */
const KEYS = [
  'plain',
  'count(*)',
  'a"b',
  "a'b",
  'a\\b',
  'a\nb',
  'a\u2028b',
  '`${1}`',
  '"];throw 1;//',
  '',
  '7',
  '合同',
];

describe('compiled functions of objects', () => {
  it('make an object of values, whatever its keys are', () => {
    const made = objectOf<number>(KEYS)(KEYS.map((_, i) => i));
    expect(Object.keys(made)).to.have.members(KEYS);
    expect(made).to.deep.equal(Object.fromEntries(KEYS.map((key, i) => [key, i])));
  });

  it('give `null` for missing values, and the last value of a name that occurs twice', () => {
    expect(objectOf<number>(['a', 'b'])([1])).to.deep.equal({ a: 1, b: null });
    expect(objectOf<number>(['a', 'b', 'a'])([1, 2, 3])).to.deep.equal({ a: 3, b: 2 });
    expect(objectOf<number>([])([])).to.deep.equal({});
  });

  it('distinguish layouts whose names are the same when joined', () => {
    expect(objectOf<number>(['a,b'])([1, 2])).to.deep.equal({ 'a,b': 1 });
    expect(objectOf<number>(['a', 'b'])([1, 2])).to.deep.equal({ a: 1, b: 2 });
    expect(objectOf<number>(['a","b'])([1, 2])).to.deep.equal({ 'a","b': 1 });
  });

  it('give the values of an object in the order of its keys, also of other objects', () => {
    const values = valuesOf(KEYS);
    expect(values(Object.fromEntries(KEYS.toReversed().map((key) => [key, key])))).to.deep.equal(KEYS);
    expect(values({ plain: 1, other: 2 })).to.deep.equal([1, ...KEYS.slice(1).map(() => undefined)]);
  });

  it('convert each value by its own function, and missing ones from `null`', () => {
    const converted = convertedBy([
      { key: 'sum', from: 'a"b', by: (value: number) => value + 1 },
      { key: 'text', from: 'n', by: String },
    ]);
    expect(converted({ 'a"b': 1 })).to.deep.equal({ sum: 2, text: 'null' });
    const listed = listedBy([
      { from: 'b', by: (value: number) => value * 2 },
      { from: 'a', by: String },
    ]);
    expect(listed({ a: 1, b: 2 })).to.deep.equal([4, '1']);
  });

  it('refuse the one key that has another meaning in a literal', () => {
    expect(() => objectOf(['__proto__'])).to.throw('cannot be named __proto__');
  });
});
