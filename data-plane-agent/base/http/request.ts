import type { IdempotencyKey } from '../idempotency-key.js';
import type { Trace } from '../trace.js';

/** The request data available to an endpoint, apart from its fields. */
export interface RequestInfo {
  /** From `X-Request-Id`, or generated. */
  readonly id: string;
  /** The span of the request, or what `traceparent` names. */
  readonly trace?: Trace | undefined;
  /** The client's IP address; behind trusted proxies the one they report. */
  readonly ip: string;
  readonly userAgent: string | undefined;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
  readonly cookies: Readonly<Record<string, string>>;
  /**
   * Names of cookies that were sent more than once: all but one were set by another host of the domain or by a page
   * without TLS.
   */
  readonly repeatedCookies?: readonly string[];
  /** The host name of the request, without the port. */
  readonly host?: string;
  readonly ifMatch: string | undefined;
  /** The first of the types that the client prefers most, from `Accept`. Found when it is asked for: few endpoints do. */
  readonly preferredType?: () => string;
  readonly receivedAt: number;
  /** Set for a write with an `Idempotency-Key`. */
  readonly keyed?: KeyedRequest;
}

/** A write that runs once however often it is sent; see `store/keyed-database.ts`. */
export interface KeyedRequest {
  readonly tenantId: string;
  /** The endpoint's route: reusing a key with another one is refused. */
  readonly operation: string;
  readonly idempotency: IdempotencyKey;
  /** Call when the response is the stored one. */
  onReplay(): void;
}

/** Whether the client prefers a redirect to JSON, as a browser following a link does. */
export const followsLink = ({ preferredType }: RequestInfo): boolean =>
  preferredType !== undefined && !TAKES_JSON.test(preferredType());

/** Whether the client names JSON as the type that it prefers. Accepting any type is not enough. */
export const asksForJson = ({ preferredType }: RequestInfo): boolean =>
  preferredType !== undefined && IS_JSON.test(preferredType());

const TAKES_JSON = /^(\*\/\*|application\/\*|.+[/+]json)$/i;
const IS_JSON = /^.+[/+]json$/i;
