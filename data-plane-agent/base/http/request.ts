import type { IdempotencyKey } from '../idempotency-key.js';

/** What an endpoint may know of the request beside its fields. */
export interface RequestInfo {
  /** From `X-Request-Id`, or made. */
  readonly id: string;
  /** The client's address; behind trusted proxies the one that they report. */
  readonly ip: string;
  readonly userAgent: string | undefined;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
  readonly cookies: Readonly<Record<string, string>>;
  /**
   * Cookies of which more than one came under a name: all but one were set by somebody else, another host of the domain
   * or a page without TLS.
   */
  readonly repeatedCookies?: readonly string[];
  /** Under which name the service was asked for, without the port. */
  readonly host?: string;
  readonly ifMatch: string | undefined;
  /** It would rather be sent on than read JSON, as a browser that follows a link. */
  readonly followsLink?: boolean;
  readonly receivedAt: number;
  /** Of a write that came under an `Idempotency-Key`. */
  readonly keyed?: KeyedRequest;
}

/** A write that happens once however often it is sent; see `store/keyed-database.ts`. */
export interface KeyedRequest {
  readonly tenantId: string;
  /** The endpoint's route: a key that comes back with another one is refused. */
  readonly operation: string;
  readonly idempotency: IdempotencyKey;
  /** To be called when the answer is the stored one. */
  onReplay(): void;
}
