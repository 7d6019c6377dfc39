import type { Clock } from '../../../data-plane-agent/base/clock.js';
import { OutboundError, type Outbound, type OutboundAnswer } from '../../../data-plane-agent/base/outbound.js';
import { CalendarFault, type CalendarApi, type FaultKind } from './provider.js';

/** Waits; ends early when the signal is aborted. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export interface ApiOptions {
  readonly apiUrl: string;
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly wait: Wait;
  /** The access token; another one than that which was refused, if one was. */
  token(refused: string | null): Promise<string>;
  /** The end of the run: no request waits for another attempt beyond it. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** The delays before further attempts after 429 and 5xx, unless the provider says another one. */
const DELAYS_MS = [500, 1_000, 2_000] as const;

/**
 * Requests with retries: a refused access token is renewed once; after 429, 5xx and Google's 403 for too many requests
 * the request is repeated, after the time in `Retry-After` if there is one. Requests without an answer are not repeated.
 */
export function createCalendarApi({ apiUrl, outbound, clock, wait, token, endsAt, signal }: ApiOptions): CalendarApi {
  const attempt = async (request: Parameters<CalendarApi['request']>[0], accessToken: string) => {
    const { method, path, query = {}, headers = {}, body } = request;
    // A space as %20, which every server understands; a plus sign is %2B already.
    const search = new URLSearchParams(query).toString().replaceAll('+', '%20');
    try {
      return await outbound.request({
        url: `${apiUrl}${path}${search === '' ? '' : `?${search}`}`,
        method,
        headers: {
          ...headers,
          Accept: 'application/json',
          Authorization: `Bearer ${accessToken}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new CalendarFault('unreachable', 'The calendar provider does not answer.', { cause: error });
    }
  };

  return {
    request: async (request) => {
      const first = await token(null);
      let answer = await attempt(request, first);
      if (answer.status === 401) answer = await attempt(request, await token(first));
      for (const [index, delayMs] of DELAYS_MS.entries()) {
        if (faultOf(answer) !== 'throttled') break;
        const asked = retryAfterMs(answer.headers.get('retry-after'), clock.now());
        const ms = asked ?? delayMs * (0.5 + jitterOf(request.path, index));
        if (signal.aborted || clock.now() + ms > endsAt) break;
        await wait(ms, signal);
        answer = await attempt(request, await token(null));
      }
      const fault = faultOf(answer);
      if (fault !== undefined) throw new CalendarFault(fault, messageOf(fault, answer));
      return parsed(answer);
    },
  };
}

function faultOf(answer: OutboundAnswer): FaultKind | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  if (status === 401) return 'unauthorized';
  if (status === 429 || status >= 500) return 'throttled';
  if (status === 403) return RATE_REASONS.test(answer.body.toString('utf8').slice(0, 10_000)) ? 'throttled' : 'denied';
  if (status === 404 || status === 410) return 'gone';
  return status === 409 ? 'exists' : 'rejected';
}

/** Google's reasons of a 403 that ends by itself. */
const RATE_REASONS = /"(rateLimitExceeded|userRateLimitExceeded|quotaExceeded|dailyLimitExceeded)"/;

const messageOf = (fault: FaultKind, { status }: OutboundAnswer): string =>
  fault === 'throttled'
    ? `The calendar provider accepts no more requests at the moment (${status}).`
    : fault === 'unauthorized' || fault === 'denied'
      ? `The calendar provider does not allow access to the calendar (${status}).`
      : `The calendar provider answered ${status}.`;

/** Seconds, or a date (RFC 9110); at most an hour. */
function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 3_600_000) : undefined;
}

/** Spreads the attempts of concurrent requests: from 0 to 1, by the path, which differs for each event. */
function jitterOf(path: string, attempt: number): number {
  let sum = attempt;
  for (const character of path) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_009;
  return sum / 1_009;
}

function parsed({ body }: OutboundAnswer): Readonly<Record<string, unknown>> {
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new CalendarFault('rejected', 'The calendar provider answered with something other than JSON.', {
      cause: error,
    });
  }
  throw new CalendarFault('rejected', 'The calendar provider answered with something other than JSON.');
}
