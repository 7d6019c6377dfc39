import { isAway, isDatabaseError } from '../../base/database/errors.js';
import { isEnded } from '../../base/deadline.js';
import { fail } from '../../base/failures.js';
import type { Call } from '../contract/call.js';

/** A pool has made new connections by then. */
const RETRY_AFTER_S = 5;

export interface Attempted {
  readonly effect: 'read' | 'write';
  readonly call: Call;
  /** A step of it has been committed, so that nobody can say that nothing was done. */
  readonly hasWritten: boolean;
}

/**
 * What a caller hears of a database that is out of reach, and of a call whose time was over: nothing was done, unless a
 * step of it has been committed before, or it ended while a change was being committed. Other errors stay as they are.
 */
export function outOfReach(error: unknown, { effect, call, hasWritten }: Attempted): unknown {
  if (!isAway(error) && !isEnded(error)) return error;
  const mayBeDone = hasWritten || (effect === 'write' && isDatabaseError(error, 'in_doubt'));
  if (mayBeDone)
    return fail(
      'DATA_PLANE_OUTCOME_UNKNOWN',
      { operationId: call.idempotency?.key ?? call.requestId },
      { cause: error },
    );
  return fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S }, { cause: error });
}
