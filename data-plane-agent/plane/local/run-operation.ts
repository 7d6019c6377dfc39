import type { Settled } from '../../base/database/idempotency.js';
import { createFairQueue } from '../../base/fair-queue.js';
import { isFailure, type Failure } from '../../base/failures.js';
import type { Answer } from '../contract/data-plane.js';
import type { Operation } from '../contract/operation.js';
import type { OperationContext } from '../steps/operation-context.js';
import { answered, type Invocation, type UnitsOfWork } from './unit-of-work.js';

/** Queued writes per tenant: each may take seconds while its caller waits. */
const LONG_WRITES_WAITING = 10;

/** Runs operations of a single transaction: reads in a snapshot, writes with their idempotency key. */
export function operationRunner(
  units: UnitsOfWork,
): (operation: Operation<OperationContext>, invocation: Invocation, input: unknown) => Promise<Answer<unknown>> {
  const queues = { read: createFairQueue(), write: createFairQueue({ waitingOfEach: LONG_WRITES_WAITING }) };
  const inTurn = <T>(
    { queued, effect }: Operation<OperationContext>,
    { call, deadline }: Invocation,
    work: () => Promise<T>,
  ): Promise<T> => (queued ? queues[effect](call.tenantId, work, { signal: deadline.signal }) : work());

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

  const change = (operation: Operation<OperationContext>, invocation: Invocation, input: unknown): Promise<Settled> =>
    inTurn(operation, invocation, async () => {
      const { prepare } = operation;
      const prepared = prepare
        ? await units.read(invocation, (context) => prepare(context, invocation.call, input))
        : input;
      // Once started, a write with a key runs to its end, so that a retry finds its response.
      if (invocation.call.idempotency) invocation.deadline.keep();
      return units.writeOnce(invocation, (context) => operation.run(context, invocation.call, prepared));
    });

  return async (operation, invocation, input) => {
    if (operation.effect === 'read') return read(operation, invocation, input);
    const { afterRefusal } = operation;
    const refused = async (failure: Failure): Promise<never> => {
      if (afterRefusal)
        await units.write(invocation, (context) => afterRefusal(context, invocation.call, { input, failure }));
      throw failure;
    };
    const settled = await units
      .alone(invocation, () => change(operation, invocation, input))
      .catch((error: unknown) => (isFailure(error) ? refused(error) : Promise.reject(error)));
    return 'failure' in settled && !settled.replayed ? refused(settled.failure) : answered(settled);
  };
}
