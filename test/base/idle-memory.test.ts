import { expect } from 'chai';
import { mock } from 'node:test';
import { ExpiringCache } from '../../data-plane-agent/base/expiring-cache.js';
import { memoryModeOf, saveMemoryWhenIdle, type MemoryMode } from '../../data-plane-agent/base/idle-memory.js';

describe('the memory mode of a process', () => {
  const times = { active: 0, idle: 0 };
  let modes: (MemoryMode | 'collected')[];
  let collections: number;
  let saving: { stop(): void };
  let longWork: (() => void) | undefined;
  let isThreadAtWork: boolean;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    modes = [];
    collections = 0;
    isThreadAtWork = false;
    saving = saveMemoryWhenIdle((mode) => modes.push(mode), {
      utilization: () => ({ ...times }),
      collections: () => collections,
      collect: () => {
        collections++;
        modes.push('collected');
      },
      isLongWorkUnderWay: () => isThreadAtWork,
      onLongWork: (begun) => {
        longWork = begun;
        return () => (longWork = undefined);
      },
    });
  });

  afterEach(() => {
    saving.stop();
    mock.timers.reset();
  });

  /** Parts of a second in each of which the loop works for a share of the time. */
  const quarters = (...shares: readonly number[]): readonly (MemoryMode | 'collected')[] => {
    for (const share of shares) {
      times.active += share * 250;
      times.idle += (1 - share) * 250;
      mock.timers.tick(250);
    }
    return modes.splice(0);
  };
  const seconds = (...shares: readonly number[]) =>
    quarters(...shares.flatMap((share) => [share, share, share, share]));
  /** As V8 does by itself, beside what the looks do. */
  const givenBack = (): void => void collections++;

  it('saves memory after two quiet seconds in a row', () => {
    expect(seconds(0.02, 0.5, 0.02)).to.deep.equal([]);
    expect(seconds(0.02)).to.deep.equal(['saving']);
    expect(seconds(0.02, 0, 0)).to.deep.equal([]);
  });

  it('is for speed again after half a busy second', () => {
    expect(seconds(0, 0, 0.9)).to.deep.equal(['saving', 'speed']);
    expect(seconds(0, 0)).to.deep.equal(['saving']);
    expect(quarters(0, 0.9)).to.deep.equal([]);
    expect(quarters(0.9)).to.deep.equal(['speed']);
    expect(seconds(0.9, 0.02)).to.deep.equal([]);
  });

  it('is for speed again after the first busy second', () => {
    seconds(0, 0);
    expect(quarters(0.9, 0.3, 0.9)).to.deep.equal([]);
    expect(quarters(0.3)).to.deep.equal(['speed']);
  });

  it('gives memory back at once if V8 has not done so after four seconds', () => {
    expect(seconds(0, 0, 0, 0, 0)).to.deep.equal(['saving']);
    expect(seconds(0)).to.deep.equal(['collected']);
    expect(seconds(0, 0, 0, 0, 0)).to.deep.equal([]);
  });

  it('does not do that beside some work, but as soon as there is none', () => {
    seconds(0, 0, 0, 0, 0);
    expect(seconds(0.15)).to.deep.equal([]);
    expect(seconds(0.05, 0)).to.deep.equal(['collected']);
  });

  it('is for speed again as soon as long work begins', () => {
    expect(seconds(0, 0)).to.deep.equal(['saving']);
    longWork?.();
    longWork?.();
    expect(modes.splice(0)).to.deep.equal(['speed']);
    expect(seconds(0.3, 0.3, 0.05)).to.deep.equal([]);
    longWork?.();
    expect(seconds(0.05)).to.deep.equal(['saving']);
    saving.stop();
    expect(longWork).to.equal(undefined);
  });

  it('is for speed as long as a thread does long work, and that is work', () => {
    isThreadAtWork = true;
    expect(seconds(0, 0, 0)).to.deep.equal([]);
    isThreadAtWork = false;
    expect(seconds(0, 0)).to.deep.equal(['saving']);
    isThreadAtWork = true;
    expect(seconds(0)).to.deep.equal(['speed']);
    isThreadAtWork = false;
    seconds(0, 0, ...Array<number>(30).fill(0));
    isThreadAtWork = true;
    seconds(...Array<number>(10).fill(0));
    isThreadAtWork = false;
    expect(seconds(0, 0)).to.deep.equal(['saving']);
  });

  it('leaves it to V8 if V8 has', () => {
    seconds(0, 0, 0);
    givenBack();
    expect(seconds(0, 0, 0, 0, 0)).to.deep.equal([]);
  });

  it('does not end with the work of the collection', () => {
    expect(seconds(0, 0)).to.deep.equal(['saving']);
    givenBack();
    expect(seconds(0.3, 0.3, 0.1, 0.3, 0.3)).to.deep.equal([]);
  });

  it('is for speed again after three seconds of some work', () => {
    expect(seconds(0, 0, 0.25, 0.25, 0.25)).to.deep.equal(['saving', 'speed']);
    expect(seconds(0.15, 0.05, 0.05)).to.deep.equal(['saving']);
    givenBack();
    expect(seconds(0.15, 0.15, 0.15, 0.15)).to.deep.equal([]);
  });

  it('is for speed at a share that does not make a process idle', () => {
    expect(seconds(0.2, 0.2, 0.2, 0.2)).to.deep.equal([]);
  });

  it('saves memory for half a minute, and again only after ten seconds of work', () => {
    expect(seconds(0, 0)).to.deep.equal(['saving']);
    givenBack();
    expect(seconds(...Array<number>(29).fill(0.05))).to.deep.equal([]);
    expect(seconds(0.05)).to.deep.equal(['speed']);
    expect(seconds(...Array<number>(100).fill(0.05), 0.9, 0.9, 0.9, 0.9, 0, 0)).to.deep.equal([]);
    expect(seconds(0.9, 0.6)).to.deep.equal([]);
    expect(seconds(0.02, 0.02)).to.deep.equal(['saving']);
    givenBack();
    expect(seconds(...Array<number>(30).fill(0))).to.deep.equal(['speed']);
    expect(seconds(...Array<number>(199).fill(0.05))).to.deep.equal([]);
    expect(seconds(0.06)).to.deep.equal(['saving']);
  });

  it('saves memory again without more work if none was given back', () => {
    expect(seconds(0, 0, 0.9, 0, 0)).to.deep.equal(['saving', 'speed', 'saving']);
  });

  it('leaves the memory to a process that is busy every few seconds', () => {
    seconds(0, 0);
    givenBack();
    expect(seconds(0.9, 0, 0, 0.9, 0.9, 0, 0)).to.deep.equal(['speed']);
    expect(seconds(...Array<number>(10).fill(0.9), 0, 0)).to.deep.equal(['saving']);
  });

  it('is for speed once nobody looks any more', () => {
    seconds(0, 0);
    saving.stop();
    expect(seconds(0, 0, 0)).to.deep.equal(['speed']);
  });

  it('begins with what caches drop at rest, also on a Node.js that needs no mode', () => {
    const cache = new ExpiringCache<{ size: number }>({
      maxSize: 100,
      sizeOf: ({ size }) => size,
      keptMs: 1_000,
      since: 'use',
    });
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, { size: 20 });
    memoryModeOf('22.14.0')('speed');
    expect(cache.heldSize).to.equal(80);
    memoryModeOf('22.14.0')('saving');
    expect(cache.heldSize).to.equal(20);
  });
});
