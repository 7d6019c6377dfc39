import { expect } from 'chai';
import { createFairTurns } from '../../data-plane-agent/base/fair-turns.js';

describe('fair turns', () => {
  it('come one at a time, and to everybody who waits before anybody has a second one', async () => {
    const take = createFairTurns();
    const began: string[] = [];
    let running = 0;
    const work = (name: string) => async () => {
      expect(++running).to.equal(1);
      began.push(name);
      await new Promise(setImmediate);
      running -= 1;
    };
    await Promise.all([take('greedy', work('g1')), take('greedy', work('g2')), take('greedy', work('g3')), take('greedy', work('g4')), take('modest', work('m1')), take('other', work('o1')), take('modest', work('m2'))]);
    expect(began).to.deep.equal(['g1', 'g2', 'm1', 'o1', 'g3', 'm2', 'g4']);
  });

  it('go on after work that fails', async () => {
    const take = createFairTurns();
    const failing = take('a', () => Promise.reject(new Error('broken')));
    const next = take('b', () => Promise.resolve('done'));
    expect(await failing.catch((error: Error) => error.message)).to.equal('broken');
    expect(await next).to.equal('done');
    expect(await take('a', () => Promise.resolve('again'))).to.equal('again');
  });
});
