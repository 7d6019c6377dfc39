import type { KeyedRequest, RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Principal } from './principal.js';

/** Who did something, as the audit keeps it. */
export interface Actor {
  readonly kind: 'user' | 'system' | 'cli';
  /** The member's id, where there is one. */
  readonly id: string | null;
  readonly name: string;
  readonly ip: string | null;
  readonly requestId: string;
  /** Of a member who changes a way to sign in: the session that must be a recent one. */
  readonly sessionId?: string;
  /** Of a request under an idempotency key: what they ask for happens once. */
  readonly keyed?: KeyedRequest;
}

/** The member as the one who does something in this request. */
export const actorOf = ({ id, name }: { readonly id: string; readonly name: string }, request: RequestInfo): Actor => ({
  kind: 'user',
  id,
  name,
  ip: request.ip,
  requestId: request.id,
  ...(request.keyed ? { keyed: request.keyed } : {}),
});

/** As `actorOf`, for what asks how long ago the session was opened. */
export const actorInSession = (
  { user, sessionId }: Pick<Principal, 'user' | 'sessionId'>,
  request: RequestInfo,
): Actor => ({ ...actorOf(user, request), sessionId });

/** Somebody who has shown nothing yet. */
export const stranger = (request: RequestInfo): Actor => ({
  kind: 'user',
  id: null,
  name: 'unknown',
  ip: request.ip,
  requestId: request.id,
});
