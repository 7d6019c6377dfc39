import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { inLanes } from '../../data-plane-agent/base/together.js';

describe('work in lanes', () => {
  it('begins in order, for as many items at once as there are lanes, and returns the results in that order', async () => {
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    const results = await inLanes([5, 1, 4, 0, 2, 3], 3, async (turns) => {
      begun.push(turns);
      most = Math.max(most, ++running);
      for (let n = 0; n < turns; n++) await turn();
      running -= 1;
      return turns * 10;
    });
    expect(results).to.deep.equal([50, 10, 40, 0, 20, 30]);
    expect(begun).to.deep.equal([5, 1, 4, 0, 2, 3]);
    expect(most).to.equal(3);
    expect(await inLanes([], 3, async () => 1)).to.deep.equal([]);
  });

  it('begins nothing more after an error, and throws it once what runs has ended', async () => {
    const ended: number[] = [];
    const error = await inLanes([3, 1, 2, 2], 2, async (turns) => {
      for (let n = 0; n < turns; n++) await turn();
      ended.push(turns);
      if (turns === 1) throw new Error('the second');
    }).then(
      () => expect.fail('nothing was thrown'),
      (thrown: unknown) => thrown,
    );
    expect(String(error)).to.equal('Error: the second');
    expect(ended).to.deep.equal([1, 3]);
  });
});
