import { expect } from 'chai';
import fc from 'fast-check';
import { createBackoff } from '../../data-plane-agent/agent/link/reconnect.js';
import { seeded } from '../support/seeded.js';

/** When agents that all lose their connection at 0 attempt to connect, until each has. In milliseconds. */
function attemptsOf({ agents, downMs, seed }: { agents: number; downMs: number; seed: number }): number[] {
  const random = seeded(seed);
  return Array.from({ length: agents }, () => {
    const backoff = createBackoff(random);
    const attempts = [backoff.next()];
    for (let at = attempts[0] ?? 0; at < downMs; attempts.push(at)) at += backoff.next();
    return attempts;
  }).flat();
}

describe('the pauses between attempts to connect', () => {
  it('are between one second and a limit that doubles from 16 seconds to a minute', () => {
    const shortest = createBackoff(() => 0);
    const longest = createBackoff(() => 0.999_999);
    expect(Array.from({ length: 5 }, () => shortest.next())).to.deep.equal([1_000, 1_000, 1_000, 1_000, 1_000]);
    const limits = Array.from({ length: 5 }, () => Math.ceil(longest.next()));
    expect(limits).to.deep.equal([16_000, 32_000, 60_000, 60_000, 60_000]);
    longest.reset();
    expect(Math.ceil(longest.next())).to.equal(16_000);
  });

  it('stay within a minute without end', () => {
    const backoff = createBackoff(() => 1);
    for (let attempt = 0; attempt < 100_000; attempt++) expect(backoff.next()).to.be.at.most(60_000);
  });

  it('of 1 000 agents give no second more than a tenth of the attempts, however long the restart took', () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(0, 2_000, 5_000, 15_000, 60_000, 300_000), (seed, downMs) => {
        const attempts = attemptsOf({ agents: 1_000, downMs, seed });
        const perSecond = new Map<number, number>();
        for (const at of attempts)
          perSecond.set(Math.floor(at / 1_000), (perSecond.get(Math.floor(at / 1_000)) ?? 0) + 1);
        const most = Math.max(...perSecond.values());
        expect(most / attempts.length, `${most} of ${attempts.length}, down for ${downMs} ms`).to.be.at.most(0.1);
        expect(Math.max(...attempts)).to.be.at.most(downMs + 60_000);
      }),
      { seed: 20_261_123, numRuns: 60 },
    );
  });
});
