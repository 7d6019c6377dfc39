import Type from 'typebox';
import { domain } from './failure-kind.js';

/** The part of the catalogue of failures that concerns services of other providers. */
export const PROVIDER_FAILURES = {
  SSO_PROVIDER_UNREACHABLE: domain(
    502,
    'The single sign-on provider is unreachable, or its response is invalid.',
    Type.Object({ provider: Type.String() }),
  ),
  CALENDAR_NOT_CONFIGURED: domain(
    409,
    'The installation has no calendar provider; the operator sets `CALENDAR_PROVIDER`.',
    Type.Object({}),
  ),
  CALENDAR_NOT_CONNECTED: domain(
    409,
    'The organisation has no connected calendar; `details.reason` says why if there was one.',
    Type.Object({ reason: Type.Union([Type.String(), Type.Null()]) }),
  ),
  CALENDAR_SYNC_RUNNING: domain(
    409,
    'Another push to the calendar of the organisation is still running; retry after the time in `details`.',
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
} as const;
