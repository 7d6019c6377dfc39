import { expect } from 'chai';
import { collectGarbage } from '../../data-plane-agent/base/collect-garbage.js';

const MB = 1024 * 1024;

describe('collecting garbage', () => {
  it('frees what nothing refers to, and leaves no function for it behind', () => {
    const before = typeof globalThis.gc;
    const made: string[][] = [];
    for (let i = 0; i < 300_000; i++) made.push([`value ${i}`]);
    const most = process.memoryUsage();
    made.length = 0;
    collectGarbage();
    const left = process.memoryUsage();
    expect(most.heapUsed - left.heapUsed).to.be.greaterThan(15 * MB);
    expect(most.heapTotal - left.heapTotal).to.be.greaterThan(15 * MB);
    expect(typeof globalThis.gc).to.equal(before);
  });
});
