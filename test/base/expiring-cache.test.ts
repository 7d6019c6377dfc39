import { expect } from 'chai';
import { mock } from 'node:test';
import { ExpiringCache, restCaches, type ExpiringCacheOptions } from '../../data-plane-agent/base/expiring-cache.js';

const KEPT_MS = 60_000;

interface Text {
  readonly text: string;
}

describe('a cache whose values expire', () => {
  let now = 1;
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const cacheOf = (since: ExpiringCacheOptions<Text>['since']) =>
    new ExpiringCache<Text>({
      maxSize: 10,
      sizeOf: ({ text }) => text.length,
      keptMs: KEPT_MS,
      since,
      clock: { now: () => now },
    });
  const pass = (ms: number): void => {
    now += ms;
    mock.timers.tick(ms);
  };

  it('drops what is too old though nobody asks', () => {
    const cache = cacheOf('set');
    cache.set('a', { text: 'aaaa' });
    pass(KEPT_MS / 2);
    cache.set('b', { text: 'bb' });
    pass(KEPT_MS / 2 - 1);
    expect(cache.heldSize).to.equal(6);
    pass(KEPT_MS + 2);
    expect(cache.heldSize).to.equal(0);
    cache.set('c', { text: 'c' });
    pass(2 * KEPT_MS);
    expect(cache.heldSize).to.equal(0);
  });

  it('returns nothing that is too old', () => {
    const cache = cacheOf('set');
    cache.set('a', { text: 'aaaa' });
    now += KEPT_MS - 1;
    expect(cache.get('a')).to.deep.equal({ text: 'aaaa' });
    now += 2;
    expect([cache.has('a'), cache.get('a')]).to.deep.equal([false, undefined]);
  });

  it('keeps what is used, if it counts from the last use', () => {
    const cache = cacheOf('use');
    cache.set('a', { text: 'aaaa' });
    cache.set('b', { text: 'bb' });
    for (let i = 0; i < 4; i++) {
      pass(KEPT_MS / 2);
      expect(cache.get('a')).to.deep.equal({ text: 'aaaa' });
    }
    expect(cache.heldSize).to.equal(4);
  });

  it('drops what was not asked for the longest beyond its size', () => {
    const cache = cacheOf('set');
    cache.set('a', { text: 'aaaa' });
    cache.set('b', { text: 'bbbb' });
    cache.get('a');
    cache.set('c', { text: 'cccc' });
    expect(['a', 'b', 'c'].filter((key) => cache.has(key))).to.deep.equal(['a', 'c']);
    expect(cache.heldSize).to.equal(8);
  });

  it('holds a quarter of its size when the process rests: what was asked for last', () => {
    const cache = cacheOf('use');
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, { text: `${key}${key}` });
    cache.get('b');
    restCaches();
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.has(key))).to.deep.equal(['b']);
    expect(cache.heldSize).to.equal(2);
    for (const key of ['a', 'c', 'd', 'e']) cache.set(key, { text: `${key}${key}` });
    expect(cache.heldSize).to.equal(10);
    restCaches();
    expect(cache.heldSize).to.equal(2);
  });
});
