import { isAway, isDatabaseError } from '../base/database/errors.js';
import { fail } from '../base/failures.js';
import type { Call } from './contract/call.js';

/** A pool has made new connections by then. */
const RETRY_AFTER_S = 5;

/** What a caller hears of a database that is out of reach: nothing was done, unless it went while a change was being committed. Other errors stay as they are. */
export function outOfReach(error: unknown, { effect, call }: { readonly effect: 'read' | 'write'; readonly call: Call }): unknown {
  if (isDatabaseError(error, 'in_doubt') && effect === 'write') return fail('DATA_PLANE_OUTCOME_UNKNOWN', { operationId: call.idempotency?.key ?? call.requestId }, { cause: error });
  return isAway(error) ? fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_S }, { cause: error }) : error;
}
