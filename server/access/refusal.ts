import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Principal } from './principal.js';

/** A 403: who asked for what, and why they did not get it. */
export interface Refusal {
  /** `undefined` for who is not signed in. */
  readonly principal: Principal | undefined;
  readonly request: RequestInfo;
  /** Method and template: `PATCH /contracts/:id`. */
  readonly route: string;
  /** Of the catalogue; `undefined` where there is none, and `reason` says it. */
  readonly code?: string;
  /**
   * The module level, the plan's feature, the control, the fields: whatever the failure says was missing. Of FORBIDDEN
   * alone it is ours to choose; else the request may.
   */
  readonly needs?: string | undefined;
  readonly reason?: string;
}
