import { expect } from 'chai';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { createFairQueue } from '../../data-plane-agent/base/fair-queue.js';

describe('the fair queue', () => {
  it('runs one task at a time, and one of each waiting key before a second one of any', async () => {
    const take = createFairQueue();
    const began: string[] = [];
    let running = 0;
    const work = (name: string) => async () => {
      expect(++running).to.equal(1);
      began.push(name);
      await new Promise(setImmediate);
      running -= 1;
    };
    await Promise.all([
      take('greedy', work('g1')),
      take('greedy', work('g2')),
      take('greedy', work('g3')),
      take('greedy', work('g4')),
      take('modest', work('m1')),
      take('other', work('o1')),
      take('modest', work('m2')),
    ]);
    expect(began).to.deep.equal(['g1', 'g2', 'm1', 'o1', 'g3', 'm2', 'g4']);
  });

  it('refuses a key with too many waiting tasks, and no other', async () => {
    const take = createFairQueue({ waitingOfEach: 2 });
    const done = (name: string) => () => Promise.resolve(name);
    const [running, first, second, third, other] = [
      take('greedy', done('g1')),
      take('greedy', done('g2')),
      take('greedy', done('g3')),
      take('greedy', done('g4')),
      take('modest', done('m1')),
    ];
    const refusal = await third.catch((error: unknown) => error);
    expect(isFailure(refusal, 'RATE_LIMITED') && refusal.details).to.deep.equal({ retryAfterSeconds: 10 });
    expect(await Promise.all([running, first, second, other])).to.deep.equal(['g1', 'g2', 'g3', 'm1']);
    expect(await take('greedy', done('g5'))).to.equal('g5');
  });

  it('yields to the event loop between two tasks', async () => {
    const take = createFairQueue();
    const seen: string[] = [];
    setImmediate(() => seen.push('something else'));
    await Promise.all([take('a', async () => seen.push('first')), take('b', async () => seen.push('second'))]);
    expect(seen).to.deep.equal(['first', 'something else', 'second']);
  });

  it('removes a cancelled task, and runs the next one', async () => {
    const take = createFairQueue({ waitingOfEach: 1 });
    const leaving = new AbortController();
    let letGo: () => void = () => undefined;
    const running = take('a', () => new Promise<void>((resolve) => (letGo = resolve)));
    const cancelled = take('a', () => Promise.resolve('never'), { signal: leaving.signal }).catch(
      (reason: unknown) => reason,
    );
    leaving.abort('no longer');
    expect(await cancelled).to.equal('no longer');
    const next = take('a', () => Promise.resolve('next'));
    letGo();
    expect([await running, await next]).to.deep.equal([undefined, 'next']);
    expect(
      await take('a', () => Promise.resolve('never'), { signal: leaving.signal }).catch((reason: unknown) => reason),
    ).to.equal('no longer');
  });

  it('continues after a failed task', async () => {
    const take = createFairQueue();
    const failing = take('a', () => Promise.reject(new Error('broken')));
    const next = take('b', () => Promise.resolve('done'));
    expect(await failing.catch((error: Error) => error.message)).to.equal('broken');
    expect(await next).to.equal('done');
    expect(await take('a', () => Promise.resolve('again'))).to.equal('again');
  });
});
