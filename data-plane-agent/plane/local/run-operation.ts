import type { Settled } from '../../base/database/idempotency.js';
import { createFairQueue } from '../../base/fair-queue.js';
import { isFailure, type Failure } from '../../base/failures.js';
import type { Answer } from '../contract/data-plane.js';
import type { Operation } from '../contract/operation.js';
import type { OperationContext } from '../steps/operation-context.js';
import { answered, type Asked, type UnitsOfWork } from './unit-of-work.js';

/** Of one tenant; each may take seconds, and its caller waits for it. */
const LONG_WRITES_WAITING = 10;

/** Runs operations that a transaction holds: a read in a snapshot, a write under its idempotency key. */
export function operationRunner(
  units: UnitsOfWork,
): (operation: Operation<OperationContext>, asked: Asked, input: unknown) => Promise<Answer<unknown>> {
  const turns = { read: createFairQueue(), write: createFairQueue({ waitingOfEach: LONG_WRITES_WAITING }) };
  const inTurn = <T>(
    { queued: takesTurns, effect }: Operation<OperationContext>,
    { call, deadline }: Asked,
    work: () => Promise<T>,
  ): Promise<T> => (takesTurns ? turns[effect](call.tenantId, work, { signal: deadline.signal }) : work());

  const read = (operation: Operation<OperationContext>, asked: Asked, input: unknown): Promise<Answer<unknown>> =>
    inTurn(operation, asked, () =>
      units.read(asked, async (context) => ({
        output: await operation.run(context, asked.call, input),
        replayed: false,
      })),
    );

  const change = (operation: Operation<OperationContext>, asked: Asked, input: unknown): Promise<Settled> =>
    inTurn(operation, asked, async () => {
      const { prepare } = operation;
      const prepared = prepare ? await units.read(asked, (context) => prepare(context, asked.call, input)) : input;
      // Once it is begun a write under a key goes on to its end: whoever asks again finds the answer.
      if (asked.call.idempotency) asked.deadline.keep();
      return units.writeOnce(asked, (context) => operation.run(context, asked.call, prepared));
    });

  return async (operation, asked, input) => {
    if (operation.effect === 'read') return read(operation, asked, input);
    const { afterRefusal } = operation;
    const refused = async (failure: Failure): Promise<never> => {
      if (afterRefusal) await units.write(asked, (context) => afterRefusal(context, asked.call, { input, failure }));
      throw failure;
    };
    const settled = await units
      .alone(asked, () => change(operation, asked, input))
      .catch((error: unknown) => (isFailure(error) ? refused(error) : Promise.reject(error)));
    return 'failure' in settled && !settled.replayed ? refused(settled.failure) : answered(settled);
  };
}
