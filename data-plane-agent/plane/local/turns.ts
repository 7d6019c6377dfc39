import { createFairQueue } from '../../base/fair-queue.js';
import type { Declared } from '../contract/operation.js';
import type { Invocation } from './unit-of-work.js';

/** Queued writes per tenant: each may take seconds while its caller waits. */
const LONG_WRITES_WAITING = 10;

/** Runs work when it is its turn: of queued operations one read and one write at a time, others at once. */
export type InTurn = <T>(
  declared: Pick<Declared, 'queued' | 'effect'>,
  invocation: Invocation,
  work: () => Promise<T>,
) => Promise<T>;

export function createTurns(): InTurn {
  const queues = { read: createFairQueue(), write: createFairQueue({ waitingOfEach: LONG_WRITES_WAITING }) };
  return ({ queued, effect }, { call, deadline }, work) =>
    queued ? queues[effect](call.tenantId, work, { signal: deadline.signal }) : work();
}
