import type { Context } from 'mocha';

/**
 * Skips the running test (or, from a `before` hook, every test of its suite) and says why. The reporter lists the
 * reason beside each skipped test; mocha's own `this.skip()` has no place for one.
 */
export function skip(context: Context, reason: string): never {
  const { test } = context;
  if (test) {
    // In a hook `test` is the hook itself: what is skipped is its suite.
    const owner = 'type' in test && test.type === 'hook' ? test.parent : test;
    Object.assign(owner ?? test, { skipReason: reason });
  }
  return context.skip();
}
