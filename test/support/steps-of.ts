import { AsyncLocalStorage } from 'node:async_hooks';
import type { HostedPlane } from '../../data-plane-agent/host/open-plane.js';

/**
 * Calls `onStep` before each step of the operation that `operation` names when it begins, with its number from 1: before each transaction, before each request to
 * the object store, also of work that continues after the answer, and last when the answer exists and has not been sent.
 */
export function watchSteps(
  { plane, database, files }: Pick<HostedPlane, 'plane' | 'database' | 'files'>,
  {
    operation,
    onStep,
  }: { readonly operation: () => string | undefined; readonly onStep: (step: Step) => Promise<void> },
): void {
  const within = new AsyncLocalStorage<{ steps: number }>();
  const step = async (what: string): Promise<void> => {
    const run = within.getStore();
    if (!run) return;
    run.steps += 1;
    await onStep({ number: run.steps, what });
  };
  for (const [of, names] of [
    [database, ['read', 'write']],
    [files.objects, ['head', 'read', 'write', 'copy', 'remove']],
  ] as const)
    for (const name of names) {
      const original = Reflect.get(of, name) as (...given: unknown[]) => Promise<unknown>;
      const watched = async (...given: unknown[]): Promise<unknown> => {
        await step(name);
        return Reflect.apply(original, of, given);
      };
      Object.defineProperty(of, name, { value: watched, configurable: true, writable: true });
    }
  const invoke = Reflect.get(plane, 'invoke') as (...given: unknown[]) => Promise<unknown>;
  const watched = (...given: unknown[]): Promise<unknown> =>
    given[0] === operation()
      ? within.run({ steps: 0 }, async () => {
          const answer = await Reflect.apply(invoke, plane, given);
          await step('answer');
          return answer;
        })
      : Reflect.apply(invoke, plane, given);
  Object.defineProperty(plane, 'invoke', { value: watched, configurable: true, writable: true });
}

export interface Step {
  readonly number: number;
  readonly what: string;
}
