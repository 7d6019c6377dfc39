import { isUnavailable, isDatabaseError } from '../../base/database/errors.js';
import { isEnded } from '../../base/deadline.js';
import { fail } from '../../base/failures.js';
import type { Call } from '../contract/call.js';

/** By then the pool has new connections. */
const RETRY_AFTER_S = 5;

export interface Attempted {
  readonly effect: 'read' | 'write';
  readonly call: Call;
  /** Whether a step has been committed, so that "nothing was changed" would be wrong. */
  readonly hasWritten: boolean;
}

/**
 * Converts an unavailable database or an expired deadline to a failure: DATA_PLANE_OUTCOME_UNKNOWN if a step was
 * already committed or the connection was lost during a commit, else DATA_PLANE_UNAVAILABLE. Other errors are returned
 * unchanged.
 */
export function unavailable(error: unknown, { effect, call, hasWritten }: Attempted): unknown {
  if (!isUnavailable(error) && !isEnded(error)) return error;
  const mayBeDone = hasWritten || (effect === 'write' && isDatabaseError(error, 'in_doubt'));
  if (mayBeDone)
    return fail(
      'DATA_PLANE_OUTCOME_UNKNOWN',
      { operationId: call.idempotency?.key ?? call.requestId },
      { cause: error },
    );
  return fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S }, { cause: error });
}
