import type { Context, Suite, Test } from 'mocha';

/**
 * Skips the running test (or, from a `before` hook, every test of its suite) and says why. The reporter lists the
 * reason beside each skipped test; mocha's own `this.skip()` has no place for one.
 */
export function skip(context: Context, reason: string): never {
  const { test } = context;
  if (test) {
    // In a hook `test` is the hook itself: what is skipped is its suite.
    if ('type' in test && test.type === 'hook')
      (test.parent as Suite | undefined)?.eachTest((skipped) => {
        give(skipped, reason);
      });
    else give(test as Test, reason);
  }
  return context.skip();
}

/**
 * A test that ran in another process reaches the reporter as what it serializes itself to: the reason travels in it.
 */
function give(test: Test, reason: string): void {
  const serialize = (test as Partial<{ serialize(): object }>).serialize?.bind(test);
  Object.assign(
    test,
    { skipReason: reason },
    serialize && { serialize: () => ({ ...serialize(), skipReason: reason }) },
  );
}
