import type { Day } from '../../../data-plane-agent/base/day.js';

/** A provider of calendars: one file that implements this, and its line in `providers.ts`. */
export interface CalendarProvider {
  /** As in CALENDAR_PROVIDER. */
  readonly id: string;
  /** Its public addresses, which settings may override. The address of an API has no slash at the end. */
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly apiUrl: string;
  /** What the administrator is asked to consent to, including a refresh token. */
  readonly scopes: readonly string[];
  /** Further parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Where a grant is revoked (RFC 7009); `null` if the provider cannot revoke the grant of one application. */
  revokeUrl(tokenUrl: string): string | null;
  /** The calendar of the account that consented. */
  open(api: CalendarApi, tenantId: string): RemoteCalendar;
}

/** An all-day event for one payment line. */
export interface CalendarEvent {
  readonly lineId: string;
  readonly day: Day;
  readonly title: string;
  readonly description: string;
  /** The organisation's, by its IANA name. */
  readonly timeZone: string;
}

/** The events that we keep in a calendar for one organisation. All methods throw CalendarFault. */
export interface RemoteCalendar {
  /** The name of the account, for display; `null` if the provider does not say it. */
  account(): Promise<string | null>;
  /**
   * Creates the event and returns its id. Repeating it with the same `runId` does not create a second event, whether or
   * not the first answer arrived.
   */
  create(event: CalendarEvent, runId: string): Promise<string>;
  /** Replaces what the event shows. Throws the fault `gone` if it does not exist any more. */
  update(eventId: string, event: CalendarEvent): Promise<void>;
  /** Does nothing if it does not exist any more. */
  remove(eventId: string): Promise<void>;
  /** A page of the events that exist, from the beginning or after the page that returned `next`. */
  list(page: string | null): Promise<{ readonly events: readonly FoundEvent[]; readonly next: string | null }>;
}

export interface FoundEvent {
  readonly eventId: string;
  readonly lineId: string;
}

/** Requests to the API with the access token of the connection. */
export interface CalendarApi {
  /** Returns the parsed JSON of a 2xx answer, `{}` if it has none. Throws CalendarFault. */
  request(request: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Begins with a slash and is already encoded. */
    readonly path: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  }): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * `unauthorized`: the access token is refused; `denied`: the grant does not allow the request; `throttled`: too many
 * requests, or the provider has a problem; `unreachable`: no answer, so that it is not known whether the request had an
 * effect; `gone`: the event does not exist; `exists`: there is already an event with this id; `rejected`: any other
 * refusal.
 */
export type FaultKind = 'unauthorized' | 'denied' | 'throttled' | 'unreachable' | 'gone' | 'exists' | 'rejected';

/** A request that failed. The message contains no contract data and no tokens. */
export class CalendarFault extends Error {
  override readonly name = 'CalendarFault';

  constructor(
    readonly kind: FaultKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const isFault = (error: unknown, ...kinds: readonly FaultKind[]): error is CalendarFault =>
  error instanceof CalendarFault && (kinds.length === 0 || kinds.includes(error.kind));
