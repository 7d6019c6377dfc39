import { expect } from 'chai';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { asLongWork, isLongWorkUnderWay, onLongWork } from '../../data-plane-agent/base/long-work.js';
import { inOrder, mapYielding, yielding } from '../../data-plane-agent/base/yielding.js';

describe('work that yields to the event loop', () => {
  /** Blocks the thread. */
  const busy = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until;);
  };
  /** Whether the event loop runs while `work` does. */
  const yields = async (work: () => Promise<void> | undefined): Promise<boolean> => {
    let hasRun = false;
    setImmediate(() => void (hasRun = true));
    await work();
    return hasRun;
  };

  /**
   * Whether work of so many milliseconds yields. Tried again if it yielded and took five or more, because the machine had
   * given the processor to another process.
   */
  const yieldsAfter = async (ms: number): Promise<boolean> => {
    for (;;) {
      await nextIteration();
      const began = performance.now();
      const pause = yielding();
      busy(ms);
      const hasYielded = await yields(pause);
      if (!hasYielded || performance.now() - began < 5) return hasYielded;
    }
  };

  it('does not yield before five milliseconds are over, and then does', async () => {
    expect(await yieldsAfter(0)).to.equal(false);
    await nextIteration();
    const pause = yielding();
    busy(6);
    expect(await yields(pause)).to.equal(true);
  });

  it('shares these five milliseconds with the work before it', async () => {
    expect(await yieldsAfter(3)).to.equal(false);
    const after = yielding();
    busy(3);
    expect(await yields(after)).to.equal(true);
  });

  it('is told to who wants to know of long work, from the third slice on', async () => {
    let times = 0;
    const stop = onLongWork(() => (times += 1));
    await nextIteration();
    const pause = yielding();
    for (const expected of [0, 0, 1, 2]) {
      busy(6);
      await pause();
      expect(times).to.equal(expected);
    }
    const other = yielding();
    busy(6);
    await other();
    expect(times, 'each piece of work has slices of its own').to.equal(2);
    stop();
    busy(6);
    await pause();
    expect(times).to.equal(2);
  });

  it('makes the same progress as other work at the same time', async () => {
    const progress = { first: 0, second: 0 };
    let isOver = false;
    const run = async (which: keyof typeof progress): Promise<void> => {
      const pause = yielding();
      while (!isOver) {
        busy(1);
        progress[which] += 1;
        await pause();
      }
    };
    const stop = mapYielding(Array.from({ length: 100 }), () => busy(1)).then(() => void (isOver = true));
    await Promise.all([run('first'), run('second'), stop]);
    expect(progress.first / progress.second).to.be.within(0.6, 1.7);
  });

  it('returns a promise only if there is something to wait for', async () => {
    await nextIteration();
    const pause = yielding();
    busy(6);
    const due = pause();
    expect(due).to.be.instanceOf(Promise);
    await due;
    for (;;) {
      await nextIteration();
      const began = performance.now();
      const none = yielding()();
      if (performance.now() - began > 5) continue; // another process had the processor
      expect(none).to.equal(undefined);
      return;
    }
  });
});

describe('long work in a thread', () => {
  it('is told when it begins, and is under way until it has ended or failed', async () => {
    let times = 0;
    const stop = onLongWork(() => (times += 1));
    let end: (() => void) | undefined;
    const ended = asLongWork(() => new Promise<void>((resolve) => (end = resolve)));
    const failed = asLongWork(() => Promise.reject(new Error('a fault')));
    expect([times, isLongWorkUnderWay()]).to.deep.equal([2, true]);
    expect(await failed.catch((error: unknown) => error)).to.have.property('message', 'a fault');
    expect(isLongWorkUnderWay()).to.equal(true);
    end?.();
    await ended;
    expect(isLongWorkUnderWay()).to.equal(false);
    stop();
  });
});

describe('steps in their order', () => {
  const items = ['a', 'b', 'c', 'd'];

  it('are done at once if none of them waits', () => {
    const done: string[] = [];
    const ended = inOrder(items, (item, i) => void done.push(`${i}${item}`));
    expect(ended).to.equal(undefined);
    expect(done).to.deep.equal(['0a', '1b', '2c', '3d']);
  });

  it('wait for each that returns a promise', async () => {
    const done: string[] = [];
    const ended = inOrder(items, (item, i) => {
      if (i % 2 === 0) return void done.push(item);
      return nextIteration().then(() => void done.push(item));
    });
    expect(done).to.deep.equal(['a']);
    await ended;
    expect(done).to.deep.equal(items);
  });

  it('end with the error of one, and the rest is not begun', async () => {
    const done: string[] = [];
    const fails = async (): Promise<void> => {
      await nextIteration();
      throw new Error('not this one');
    };
    const ended = inOrder(items, (item) => {
      done.push(item);
      return item === 'b' ? fails() : undefined;
    });
    const error: unknown = await ended?.catch((failed: unknown) => failed);
    expect(error).to.have.property('message', 'not this one');
    expect(done).to.deep.equal(['a', 'b']);
  });
});
