import type { Clock } from '../../base/clock.js';
import type { Settled } from '../../base/database/idempotency.js';
import { isFailure, type Failure } from '../../base/failures.js';
import type { Answer } from '../contract/data-plane.js';
import type { Operation } from '../contract/operation.js';
import type { OperationContext } from '../steps/operation-context.js';
import { settledInSteps, type Progress } from './steps.js';
import type { InTurn } from './turns.js';
import { answered, type Invocation, type UnitsOfWork } from './unit-of-work.js';

export interface OperationRunnerParts {
  readonly units: UnitsOfWork;
  readonly clock: Clock;
  readonly inTurn: InTurn;
}

/** Runs operations of a single transaction: reads in a snapshot, writes with their idempotency key. */
export function operationRunner({
  units,
  clock,
  inTurn,
}: OperationRunnerParts): (
  operation: Operation<OperationContext>,
  invocation: Invocation,
  run: { readonly input: unknown; readonly progress: Progress },
) => Promise<Answer<unknown>> {
  const read = (
    operation: Operation<OperationContext>,
    invocation: Invocation,
    input: unknown,
  ): Promise<Answer<unknown>> =>
    inTurn(operation, invocation, async () => {
      const run = (context: OperationContext) => operation.run(context, invocation.call, input);
      const output = await (operation.isKept
        ? units.readKept(invocation, input, run as (context: OperationContext) => Promise<object>) // no answer is a bare value
        : units.read(invocation, run));
      return { output, replayed: false };
    });

  const change = (
    operation: Operation<OperationContext>,
    invocation: Invocation,
    { input, progress }: { readonly input: unknown; readonly progress: Progress },
  ): Promise<Settled> =>
    inTurn(operation, invocation, async () => {
      const { prepare, inSteps, mayShare = false } = operation;
      if (inSteps && operation.isLong?.(input))
        return settledInSteps({ units, clock, progress }, invocation, (steps) =>
          inSteps(steps, invocation.call, input),
        );
      const prepared = prepare
        ? await units.read(invocation, (context) => prepare(context, invocation.call, input))
        : input;
      // Once started, a write with a key runs to its end, so that a retry finds its response.
      if (invocation.call.idempotency) invocation.deadline.keep();
      return units.writeOnce(invocation, (context) => operation.run(context, invocation.call, prepared), { mayShare });
    });

  return async (operation, invocation, { input, progress }) => {
    if (operation.effect === 'read') return read(operation, invocation, input);
    const { afterRefusal } = operation;
    const refused = async (failure: Failure): Promise<never> => {
      if (afterRefusal)
        await units.write(invocation, (context) => afterRefusal(context, invocation.call, { input, failure }));
      throw failure;
    };
    const settled = await units
      .alone(invocation, () => change(operation, invocation, { input, progress }))
      .catch((error: unknown) => (isFailure(error) ? refused(error) : Promise.reject(error)));
    return 'failure' in settled && !settled.replayed ? refused(settled.failure) : answered(settled);
  };
}
