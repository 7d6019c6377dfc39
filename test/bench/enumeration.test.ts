import { expect } from 'chai';
import { rowsOf } from './enumeration.js';

describe('the benchmark of refused logins', () => {
  it('meets its target if the medians of all classes are within 10 %, whatever the duration of single attempts', () => {
    const rows = rowsOf({ known: [10, 10, 900], unknown: [11, 11, 2], disabled: [10.5, 10.5, 10.5] });
    expect(rows.map(({ figure, met }) => [Number(figure.toFixed(1)), met])).to.deep.equal([
      [10, true],
      [11, true],
      [10.5, true],
      [10, true],
    ]);
  });

  it('misses it if a class takes longer, and names that class', () => {
    const rows = rowsOf({ known: [12, 12, 12], unknown: [10, 10, 10] });
    expect(rows.map(({ name, met }) => [name, met])).to.deep.equal([
      ['refused login: known', false],
      ['refused login: unknown', true],
      ['refused login: spread of the medians', false],
    ]);
  });

  it('fails if all attempts of a class were refused by a rate limit', () => {
    expect(() => rowsOf({ known: [12], unknown: [] })).to.throw('nothing was measured');
  });
});
