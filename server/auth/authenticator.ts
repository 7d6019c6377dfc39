import type { RequestInfo } from '../http/request.js';
import type { Principal } from './principal.js';

/** Turns a bearer token into a caller. Throws UNAUTHENTICATED for anything but a valid token of a live session of an active member. */
export interface Authenticator {
  authenticate(accessToken: string, request: RequestInfo): Promise<Principal>;
}
