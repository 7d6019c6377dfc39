import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from '@koa/cors';
import helmet from 'helmet';
import type { HttpMiddleware } from './exchange.js';
import { problem } from './problems.js';

/** Helmet's headers are the same for every response, so they are computed once. */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = collect();

/** Set on every response; specific ones (a page's content policy, a cache time) are set later. */
export const setHeaders: HttpMiddleware = (ctx, next) => {
  for (const [name, value] of SECURITY_HEADERS) ctx.res.setHeader(name, value);
  ctx.res.setHeader('Cache-Control', 'no-store');
  return next();
};

/**
 * Refuses requests with broken percent-escapes in the URL, or with a missing, invalid or repeated Host header: with
 * two, a proxy may have used the other.
 */
export const refuseMalformed: HttpMiddleware = (ctx, next) => {
  const { host } = ctx.req.headers;
  if (isRepeated('host', ctx.req.rawHeaders) || (host === undefined ? ctx.req.httpVersion !== '1.0' : !HOST.test(host)))
    throw problem(400, 'The Host header is missing or invalid');
  if (ctx.url.includes('%')) checkEscapes(ctx.url);
  return next();
};

/** Node.js merges repeated headers, or keeps the first. `rawHeaders` has names and values in turn. */
function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) found += 1;
  }
  return found > 1;
}

/** Lets pages of the listed origins read responses, with their cookies. `undefined` when none is listed. */
export function allowOrigins(origins: readonly string[]): HttpMiddleware | undefined {
  if (origins.length === 0) return undefined;
  const allowed = new Set(origins);
  return cors({
    origin: (ctx) => (allowed.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    credentials: true,
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeaders: [
      'ETag',
      'X-Request-Id',
      'Idempotency-Replayed',
      'Content-Disposition',
      'Retry-After',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
    ],
    maxAge: 600,
  });
}

const HOST = /^([A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?$/;

function checkEscapes(url: string): void {
  try {
    decodeURIComponent(url);
  } catch {
    throw problem(400, 'The URL contains invalid percent-escapes');
  }
}

function collect(): [string, string][] {
  const headers: [string, string][] = [];
  const answer = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  // Helmet uses only these two methods of the response, and nothing of the request. Its default policy allows `<base>`
  // on our own pages, which none needs.
  helmet({ contentSecurityPolicy: { directives: { 'base-uri': ["'none'"] } } })(
    {} as IncomingMessage,
    answer as unknown as ServerResponse,
    (error?: unknown) => {
      if (error) throw error;
    },
  );
  return headers;
}
