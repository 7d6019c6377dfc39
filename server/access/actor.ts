import type { KeyedRequest, RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Principal } from './principal.js';

/** The actor of an audit event. */
export interface Actor {
  readonly kind: 'user' | 'system' | 'cli';
  /** The member's id, if the actor is a member. */
  readonly id: string | null;
  readonly name: string;
  readonly ip: string | null;
  readonly requestId: string;
  /** The session of a member who changes a sign-in method; it must be recent. */
  readonly sessionId?: string;
  /** Set for a request with an idempotency key, so that its write is executed once. */
  readonly keyed?: KeyedRequest;
}

/** The member as the actor of a request. */
export const actorOf = ({ id, name }: { readonly id: string; readonly name: string }, request: RequestInfo): Actor => ({
  kind: 'user',
  id,
  name,
  ip: request.ip,
  requestId: request.id,
  ...(request.keyed ? { keyed: request.keyed } : {}),
});

/** Like `actorOf`, for operations that require a recent sign-in. */
export const actorInSession = (
  { user, sessionId }: Pick<Principal, 'user' | 'sessionId'>,
  request: RequestInfo,
): Actor => ({ ...actorOf(user, request), sessionId });

/** The actor of an unauthenticated request. */
export const anonymousActor = (request: RequestInfo): Actor => ({
  kind: 'user',
  id: null,
  name: 'unknown',
  ip: request.ip,
  requestId: request.id,
});
