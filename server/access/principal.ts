import type { Exchange } from '../../data-plane-agent/base/http/exchange.js';
import type { Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { FeatureFlags, Permissions, PlanCode } from './permissions.js';
import type { Settings } from './settings.schemas.js';

/**
 * The caller of a request, as stored in the platform database. A token's claims are only informative: role, scope and
 * status are read from the session's member, so that changes apply from the next request.
 */
export interface Principal {
  readonly sessionId: string;
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string; readonly plan: PlanCode };
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly roleCode: string;
    readonly subjectScope: readonly string[] | null;
  };
  readonly permissions: Permissions;
  readonly controls: Readonly<Record<string, Control>>;
  readonly features: FeatureFlags;
  readonly settings: Settings;
  /** Policy requires a second factor that is missing: the session can only access `/auth/*`. */
  readonly enrolmentDue: boolean;
  /** The session was started from the service's own web pages, which need no `apiAccess`. */
  readonly ownPages: boolean;
}

const principals = new WeakMap<Exchange, Principal>();

/** Sets the caller of an exchange, for the log and for recording refusals. */
export function setPrincipal(exchange: Exchange, principal: Principal): void {
  principals.set(exchange, principal);
  exchange.caller = { tenantId: principal.tenant.id, userId: principal.user.id, sessionId: principal.sessionId };
}

/** Returns the caller, also if the request was refused after authentication. */
export const principalOf = (exchange: Exchange): Principal | undefined => principals.get(exchange);
