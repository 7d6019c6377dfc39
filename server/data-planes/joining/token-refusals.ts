import { decodeJwt } from 'jose';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { fail, type Failure } from '../../../data-plane-agent/base/failures.js';
import { iso } from '../../../data-plane-agent/base/instants.js';
import { TokenRefused } from '../../../data-plane-agent/base/link/tokens.js';

/** A refused token as a failure that the agent is answered; other errors are returned as they are. */
export function tokenRefusal(error: unknown, { token, clock }: { token: string; clock: Clock }): unknown {
  if (!(error instanceof TokenRefused)) return error;
  if (error.reason === 'clock_skew') return skewOf(token, clock);
  return fail('LINK_TOKEN_REFUSED', { reason: error.message }, { cause: error });
}

/** The signature of the token was verified. */
function skewOf(token: string, clock: Clock): Failure {
  const now = clock.now();
  const issued = (decodeJwt(token).iat ?? 0) * 1_000;
  return fail('CLOCK_SKEW', { serverTime: iso(now), seconds: Math.round((issued - now) / 1_000) });
}
