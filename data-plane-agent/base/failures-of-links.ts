import Type from 'typebox';
import { domain } from './failure-kind.js';

const None = Type.Object({});
const text = () => Type.String();

/** Failures of the access to a tenant's contract data. */
export const DATA_PLANE_FAILURES = {
  DATA_PLANE_NOT_CONNECTED: domain(
    409,
    'The tenant has no connected data plane: none has joined, or its connection is pending, revoked or suspended.',
    None,
  ),
  DATA_PLANE_MISMATCH: domain(
    409,
    "What stands behind the tenant's agent differs from what the tenant has declared, so nothing is written until it matches; `details.mismatches` lists the differences. Reading is not affected.",
    Type.Object({
      mismatches: Type.Array(
        Type.Object({
          kind: text(),
          field: text(),
          declared: text(),
          reported: Type.Union([text(), Type.Null()]),
        }),
      ),
    }),
  ),
  DATA_PLANE_UNAVAILABLE: domain(
    503,
    "The tenant's data plane does not respond; nothing was changed. `details.lastSeenAt` is when its agent was last heard of.",
    Type.Object({ retryAfterSeconds: Type.Integer(), lastSeenAt: Type.Optional(Type.Union([text(), Type.Null()])) }),
  ),
  DATA_PLANE_OUTCOME_UNKNOWN: domain(
    504,
    'The data plane did not respond in time; the change may or may not have been made.',
    Type.Object({ operationId: text() }),
  ),
  DATA_PLANE_DENIED: domain(
    403,
    "The policy of the tenant's agent refuses this operation; only the operator of the agent can change that.",
    Type.Object({ operation: text() }),
  ),
  DATA_MOVING: domain(
    503,
    "The organisation's contract data is being moved to another data plane, so nothing can be changed there; retry after the time in `Retry-After`.",
    Type.Object({ retryAfterSeconds: Type.Integer() }),
  ),
  DATA_MOVED: domain(
    409,
    "The organisation's contract data was moved from this data plane to another one; only the operator of the service can change which one is used.",
    None,
  ),
  DATA_MOVE_REFUSED: domain(
    409,
    'A step of moving contract data does not fit the state of the data plane; `details.reason` says why.',
    Type.Object({ reason: text(), table: Type.Optional(text()) }),
  ),
} as const;

/** Failures of the paths for agents, `/link/v1/*`, which are no endpoints of the API. */
export const LINK_FAILURES = {
  JOIN_TOKEN_INVALID: domain(
    401,
    'The join token is unknown: it was mistyped, a newer one has replaced it, or its connection was revoked.',
    None,
  ),
  JOIN_TOKEN_EXPIRED: domain(410, 'The join token has expired: it is valid for 24 hours. Create a new one.', None),
  JOIN_TOKEN_USED: domain(
    410,
    'An agent has joined with this join token, and a token is valid once. If the answer to that was lost, nothing is lost: create a new join token, and join again.',
    None,
  ),
  CHALLENGE_INVALID: domain(
    401,
    'The nonce of the proof was not issued for this join token within the last minute. Begin again with a new challenge.',
    None,
  ),
  LINK_TOKEN_REFUSED: domain(
    401,
    'The signed token of the agent is not accepted; `details.reason` says why.',
    Type.Object({ reason: text() }),
  ),
  CLOCK_SKEW: domain(
    401,
    "The clocks of the agent and of the service differ by more than a minute. `details.serverTime` is the service's time, `details.seconds` how far the agent is ahead of it.",
    Type.Object({ serverTime: text(), seconds: Type.Integer() }),
  ),
  LINK_INCOMPATIBLE: domain(
    426,
    'The agent and the service have no version of the link in common: upgrade the older of the two.',
    Type.Object({ supported: Type.Array(text()) }),
  ),
  CONNECTION_REVOKED: domain(
    403,
    'The connection of this agent was revoked. To connect it again, create a join token and join with it.',
    None,
  ),
  CONNECTION_SUSPENDED: domain(
    403,
    'The connection of this agent is suspended, because its data directory was copied. Stop the copy, create a join token and join with it.',
    None,
  ),
  PROTOCOL_UNSUPPORTED: domain(
    409,
    'The agent and the service have no version of the protocol in common: upgrade the older one. `details` has the range and the version of the service.',
    Type.Object({ min: Type.Integer(), max: Type.Integer(), version: text() }),
  ),
} as const;
