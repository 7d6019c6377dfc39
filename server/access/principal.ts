import type { Exchange } from '../../data-plane-agent/base/http/exchange.js';
import type { Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { FeatureFlags, Permissions, PlanCode } from './permissions.js';
import type { Settings } from './settings.schemas.js';

/**
 * Who sends a request, as the platform database says now. A token's claims only inform its holder: role, scope and
 * status are read from the session's member, so that a change of them bites on the next request.
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
  /** Policy asks for a second factor that is not there: the session opens `/auth/*` and nothing else. */
  readonly enrolmentDue: boolean;
  /** The session was opened from the service's own web pages, which need no `apiAccess`. */
  readonly ownPages: boolean;
}

const askers = new WeakMap<Exchange, Principal>();

/** Who asks is known: the log names them from now on, and so does the record of a refusal. */
export function isAsking(exchange: Exchange, principal: Principal): void {
  askers.set(exchange, principal);
  exchange.caller = { tenantId: principal.tenant.id, userId: principal.user.id, sessionId: principal.sessionId };
}

/** Also of one who was refused after they were known. */
export const askerOf = (exchange: Exchange): Principal | undefined => askers.get(exchange);
