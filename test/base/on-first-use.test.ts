import { expect } from 'chai';
import { onFirstUse } from '../../data-plane-agent/base/on-first-use.js';

describe('a value made on first use', () => {
  it('is made at the first call, once', () => {
    let made = 0;
    const value = onFirstUse(() => ({ number: ++made }));
    expect(made).to.equal(0);
    expect([value(), value()]).to.deep.equal([{ number: 1 }, { number: 1 }]);
  });

  it('is made again after a failure', () => {
    let tries = 0;
    const value = onFirstUse(() => {
      if (++tries === 1) throw new Error('not yet');
      return { tries };
    });
    expect(() => value()).to.throw('not yet');
    expect(value()).to.deep.equal({ tries: 2 });
  });
});
