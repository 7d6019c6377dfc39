import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Principal } from './principal.js';

/** A request that was refused with 403. */
export interface Refusal {
  /** `undefined` for a caller who is not signed in. */
  readonly principal: Principal | undefined;
  readonly request: RequestInfo;
  /** Method and route template: `PATCH /contracts/:id`. */
  readonly route: string;
  /** The failure code; if there is none, `reason` is set. */
  readonly code?: string;
  /**
   * What the failure reports as missing: the module level, the plan's feature, the control or the fields. Only for
   * FORBIDDEN is it independent of the request's content.
   */
  readonly needs?: string | undefined;
  readonly reason?: string;
}
