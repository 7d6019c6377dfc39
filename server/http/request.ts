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
  readonly ifMatch: string | undefined;
  readonly receivedAt: number;
}
