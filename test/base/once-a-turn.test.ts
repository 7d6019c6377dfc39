import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { onceATurn, readAnew } from '../../data-plane-agent/base/once-a-turn.js';

describe('a value that is read once a turn', () => {
  it('is read again in the next turn of the event loop, and not before', async () => {
    let present = 0;
    const value = onceATurn(() => (present += 1));
    expect([value(), value()]).to.deep.equal([1, 1]);
    await Promise.resolve();
    expect(value()).to.equal(1);
    await nextTurn();
    expect(value()).to.equal(2);
    await nextTurn();
    expect([value(), value()]).to.deep.equal([3, 3]);
  });

  it('is read again after this process has changed it', () => {
    let present = 'before';
    const value = onceATurn(() => present);
    expect(value()).to.equal('before');
    present = 'after';
    expect(value()).to.equal('before');
    readAnew();
    expect(value()).to.equal('after');
  });

  it('is not kept when it cannot be read', async () => {
    let fails = true;
    const value = onceATurn(() => {
      if (fails) throw new Error('away');
      return 'there';
    });
    expect(value).to.throw('away');
    fails = false;
    expect(value()).to.equal('there');
    await nextTurn();
    expect(value()).to.equal('there');
  });
});
