import { expect } from 'chai';
import { createBreaker } from '../../server/data-planes/link/breaker.js';

describe('the circuit breaker of an agent', () => {
  let time = 0;
  const open = () => {
    time = 1_000_000;
    return createBreaker({ now: () => time });
  };
  /** A request that takes so long and has no reply. */
  const lose = (breaker: ReturnType<typeof open>, ms: number): void => {
    const sentAt = breaker.now();
    time += ms;
    breaker.failed('t', sentAt);
  };

  it('opens for five seconds after five lost requests in a row, and then lets one through', () => {
    const breaker = open();
    for (let count = 0; count < 4; count += 1) lose(breaker, 10);
    expect(breaker.admits('t')).to.equal(true);
    lose(breaker, 10);
    expect([breaker.admits('t'), breaker.admits('other')]).to.deep.equal([false, true]);
    time += 5_000;
    expect([breaker.admits('t'), breaker.admits('t')]).to.deep.equal([true, false]);
    breaker.succeeded('t');
    expect(breaker.admits('t')).to.equal(true);
  });

  it('begins to count anew after an answer, and after a new session', () => {
    for (const again of ['succeeded', 'reset'] as const) {
      const breaker = open();
      for (let count = 0; count < 8; count += 1) {
        if (count === 4) breaker[again]('t');
        lose(breaker, 10);
      }
      expect(breaker.admits('t')).to.equal(true);
    }
  });

  it('counts requests that were lost together once', () => {
    const breaker = open();
    const sentAt = breaker.now();
    time += 200;
    for (let count = 0; count < 64; count += 1) breaker.failed('t', sentAt);
    expect(breaker.admits('t')).to.equal(true);
    for (let count = 0; count < 3; count += 1) lose(breaker, 10);
    expect(breaker.admits('t')).to.equal(true);
    lose(breaker, 10);
    expect(breaker.admits('t')).to.equal(false);
  });

  it('counts requests that ran at the same time and time out one after the other', () => {
    const breaker = open();
    const sentAt = breaker.now();
    time += 10_000;
    for (let count = 0; count < 5; count += 1) {
      breaker.failed('t', sentAt);
      time += 1_000;
    }
    expect(breaker.admits('t')).to.equal(false);
  });
});
