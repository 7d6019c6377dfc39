import { STATUS_CODES } from 'node:http';
import { FAILURES, isFailure, type DetailsOf, type Failure } from '../failures.js';
import type { Log } from '../log.js';
import type { HttpContext, HttpMiddleware } from './exchange.js';

const PROBLEM = Symbol('http problem');

/** A refusal at HTTP level, outside the catalogue of failures: 405, 413, 415, malformed JSON. */
export interface HttpProblem extends Error {
  readonly [PROBLEM]: true;
  readonly status: number;
  readonly headers: ProblemHeaders;
}

/** A header may have several values, as `Set-Cookie` does. */
type ProblemHeaders = Readonly<Record<string, string | readonly string[]>>;

/** `throw problem(415, 'The body must be application/json')`. The text defaults to the status text. */
export const problem = (status: number, text = statusText(status), headers: ProblemHeaders = {}): HttpProblem =>
  Object.assign(new Error(text), { [PROBLEM]: true as const, status, headers });

/** An error response. Both error formats of the API are created in this file only. */
export interface Refusal {
  readonly status: number;
  readonly headers: ProblemHeaders;
  readonly body: object;
}

/** The `framework` format: `{ statusCode, message, error }`. */
export const frameworkBody = (status: number, message: string | readonly string[]): object => ({
  statusCode: status,
  message,
  error: statusText(status),
});

/**
 * Turns errors into responses. It wraps everything that may throw, because Koa's own error handler drops the headers
 * set so far and responds in plain text.
 */
export function writeProblems({
  log,
  isTransient,
}: {
  log: Log;
  isTransient: (error: unknown) => boolean;
}): HttpMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { info, route } = ctx.state.exchange;
      if (isDisconnected(ctx)) {
        log.debug({ err: error, requestId: info.id, route }, 'client disconnected');
        ctx.respond = false;
        return;
      }
      if (ctx.res.headersSent) {
        // Break the connection, so that the client does not take the partial response for a complete one.
        log.error({ err: error, requestId: info.id, method: ctx.method, route }, 'response aborted by an error');
        ctx.respond = false;
        ctx.res.destroy();
        return;
      }
      const refusal = refusalOf(error, { requestId: info.id, isTransient });
      if (refusal.status === 500)
        log.error({ err: error, requestId: info.id, method: ctx.method, route }, 'unexpected error');
      // A line for each request that is refused because of load would add to the load; the metrics count them.
      else if (refusal.status >= 502 && !isFailure(error, 'OVERLOADED'))
        log.warn({ err: error, requestId: info.id, method: ctx.method, route }, 'dependency unavailable');
      write(ctx, refusal);
    }
  };
}

export function write(ctx: HttpContext, { status, headers, body }: Refusal): void {
  ctx.status = status;
  for (const [name, value] of Object.entries(headers))
    if (!ctx.res.hasHeader(name)) ctx.set(name, typeof value === 'string' ? value : [...value]);
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify(body);
}

export const JSON_TYPE = 'application/json; charset=utf-8';

function refusalOf(
  error: unknown,
  { requestId, isTransient }: { requestId: string; isTransient: (error: unknown) => boolean },
): Refusal {
  if (isFailure(error)) return failureRefusal(error);
  if (isProblem(error))
    return { status: error.status, headers: error.headers, body: frameworkBody(error.status, error.message) };
  if (isTransient(error))
    return { status: 503, headers: retryAfter(TRANSIENT_RETRY_S), body: frameworkBody(503, statusText(503)) };
  return {
    status: 500,
    headers: {},
    body: frameworkBody(500, `Internal server error (request ${requestId})`),
  };
}

/** For a lost or busy database: by then the pool has new connections. */
const TRANSIENT_RETRY_S = 5;

/** The response for a failure of the catalogue. */
export function failureRefusal(failure: Failure): Refusal {
  const { status, shape } = FAILURES[failure.code];
  const headers = failureHeaders(failure, status);
  if (shape === 'framework') return { status, headers, body: frameworkBody(status, frameworkMessage(failure)) };
  return {
    status,
    headers,
    body: { error: { code: failure.code, message: failure.message, details: failure.details } },
  };
}

function failureHeaders(failure: Failure, status: number): Record<string, string> {
  const { details } = failure;
  if (status === 401) return { 'WWW-Authenticate': challengeOf(failure) };
  if (!('retryAfterSeconds' in details)) return {};
  const seconds = details.retryAfterSeconds;
  return status === 429
    ? { ...retryAfter(seconds), 'RateLimit-Remaining': '0', 'RateLimit-Reset': String(seconds) }
    : retryAfter(seconds);
}

function frameworkMessage(failure: Failure): string | string[] {
  if (isFailure(failure, 'INVALID_INPUT'))
    return failure.details.issues.map(({ path, problem: what }) => `${path === '' ? 'body' : path} ${what}`);
  if (isFailure(failure, 'UNAUTHENTICATED'))
    return failure.details.message ?? failure.details.tokenFault ?? statusText(401);
  if (isFailure(failure, 'FORBIDDEN')) return forbiddenMessage(failure.details);
  if (isFailure(failure, 'ORIGIN_NOT_ALLOWED')) return failure.message;
  // Must not mention the id: a missing record and one of another tenant get identical responses.
  return statusText(FAILURES[failure.code].status);
}

/** RFC 6750, section 3.1: an error code only where an access token was sent. */
function challengeOf(failure: Failure): string {
  const fault = isFailure(failure, 'UNAUTHENTICATED') ? failure.details.tokenFault : undefined;
  return fault === undefined ? 'Bearer' : `Bearer error="invalid_token", error_description="${fault}"`;
}

/** Clients may compare the beginning, which is the required level alone. */
const forbiddenMessage = ({ needs, role, has }: DetailsOf<'FORBIDDEN'>): string =>
  role === undefined
    ? needs
    : `${needs} is required; your role ${has === undefined ? `is "${role}"` : `"${role}" has ${has}`}`;

const retryAfter = (seconds: number): Record<string, string> => ({
  'Retry-After': String(Math.max(1, Math.ceil(seconds))),
});

export const isProblem = (error: unknown): error is HttpProblem =>
  typeof error === 'object' && error !== null && PROBLEM in error;

const isDisconnected = (ctx: HttpContext): boolean => ctx.res.destroyed || ctx.req.socket.destroyed;

export const statusText = (status: number): string => STATUS_CODES[status] ?? 'Error';
