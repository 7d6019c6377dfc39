import type { Context, Suite, Test } from 'mocha';

/**
 * Skips the running test (or, from a `before` hook, every test of its suite) with a reason, which the reporter prints.
 * Mocha's own `this.skip()` supports no reason.
 */
export function skip(context: Context, reason: string): never {
  const { test } = context;
  if (test) {
    // In a hook, `test` is the hook itself, and its suite is skipped.
    if ('type' in test && test.type === 'hook')
      (test.parent as Suite | undefined)?.eachTest((skipped) => {
        give(skipped, reason);
      });
    else give(test as Test, reason);
  }
  return context.skip();
}

/** Tests of worker processes are serialised for the reporter, so the reason is added to the serialised form. */
function give(test: Test, reason: string): void {
  const serialize = (test as Partial<{ serialize(): object }>).serialize?.bind(test);
  Object.assign(
    test,
    { skipReason: reason },
    serialize && { serialize: () => ({ ...serialize(), skipReason: reason }) },
  );
}
