import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Clock } from '../clock.js';
import { traceOf, withTrace, type Trace } from '../trace.js';
import type { Tracer } from '../tracing/spans.js';
import type { RequestInfo } from './request.js';
import { beginRequestSpan, endRequestSpan } from './request-span.js';

/** The only property that we put on Koa's `ctx.state`. */
export interface Exchange {
  readonly info: RequestInfo;
  /** The template of the matched route, for log and metrics; `undefined` when none matched. */
  route: string | undefined;
  /** The authenticated caller, also of a request that is then refused. */
  caller: { readonly tenantId: string; readonly userId: string; readonly sessionId: string } | undefined;
}

export interface HttpState {
  exchange: Exchange;
}
export type HttpContext = ParameterizedContext<HttpState>;
export type HttpMiddleware = Middleware<HttpState>;

/** A finished request: answered, or aborted by the client. */
export interface Served {
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly exchange: Exchange;
  /** The client disconnected before the response was complete. */
  readonly aborted: boolean;
}

/**
 * Starts every request: assigns its id, which every response carries, and notifies the observers when it ends. With a
 * tracer each request is a span.
 */
export function beginExchange({
  clock,
  observers,
  tracer,
}: {
  clock: Clock;
  observers: readonly ((served: Served) => void)[];
  tracer?: Tracer | undefined;
}): HttpMiddleware {
  return (ctx, next) => {
    const received = traceOf(ctx.req.headers['traceparent']);
    const span = tracer && beginRequestSpan(tracer, ctx.method, received);
    const exchange: Exchange = { info: infoOf(ctx, clock, span ?? received), route: undefined, caller: undefined };
    ctx.state.exchange = exchange;
    ctx.set('X-Request-Id', exchange.info.id);
    const began = performance.now();
    ctx.res.once('close', () => {
      const aborted = !ctx.res.writableFinished;
      const served: Served = {
        method: ctx.method,
        route: exchange.route,
        status: ctx.res.statusCode,
        durationMs: performance.now() - began,
        exchange,
        aborted,
      };
      for (const observe of observers) observe(served);
      if (span) endRequestSpan(span, served);
    });
    return withTrace(exchange.info.trace, next);
  };
}

/** Browsers send less than 200 characters; parsing time grows quadratically with an unclosed quote. */
const LONGEST_ACCEPT = 1_000;
const ANYTHING = '*/*';
const REQUEST_ID = /^[A-Za-z0-9._-]{8,128}$/;

function infoOf(ctx: HttpContext, clock: Clock, trace: Trace | undefined): RequestInfo {
  const { headers } = ctx.req;
  const sent = headers['x-request-id'];
  return {
    id: typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID(),
    trace,
    ip: addressOf(ctx),
    userAgent: headers['user-agent'],
    origin: headers.origin,
    secFetchSite: one(headers['sec-fetch-site']),
    ...cookiesOf(headers.cookie),
    host: ctx.hostname,
    ifMatch: headers['if-match'],
    // Not a getter: each object with a getter of its own has a hidden class of its own, which V8 keeps until its next full
    // garbage collection, and with it the getter, the context and all of the request.
    preferredType: () => preferredType(ctx),
    receivedAt: clock.now(),
  };
}

/** The first of the most preferred types. */
function preferredType(ctx: HttpContext): string {
  if ((ctx.req.headers.accept ?? '').length > LONGEST_ACCEPT) return ANYTHING;
  const [preferred = ANYTHING] = [ctx.accepts()].flat();
  return preferred;
}

/** Uses what the proxy reports only if it is an IP address. An IPv4-mapped IPv6 address is returned as IPv4. */
function addressOf(ctx: HttpContext): string {
  const reported = plainAddress(ctx.ip);
  return isIP(reported) === 0 ? plainAddress(ctx.req.socket.remoteAddress ?? '') : reported;
}

const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

type Cookies = Required<Pick<RequestInfo, 'cookies' | 'repeatedCookies'>>;

const NO_COOKIES: Cookies = { cookies: {}, repeatedCookies: [] };

/** The first cookie of a name wins: browsers send the one with the longest path first. */
function cookiesOf(header: string | undefined): Cookies {
  if (header === undefined) return NO_COOKIES;
  const cookies: Record<string, string> = Object.create(null) as Record<string, string>;
  const repeated = new Set<string>();
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(equals, 0)).trim();
    if (name in cookies) repeated.add(name);
    else if (name !== '') cookies[name] = pair.slice(equals + 1).trim();
  }
  return { cookies, repeatedCookies: [...repeated] };
}
