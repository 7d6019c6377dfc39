import { Router } from '@koa/router';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { Endpoint } from './endpoint.js';
import type { HttpMiddleware, HttpState } from '../../data-plane-agent/base/http/exchange.js';
import { handler, type Api } from './handler.js';
import { PREFIX } from './prefix.js';
import { problem } from '../../data-plane-agent/base/http/problems.js';

/** The only list of endpoints: the key is the endpoint's name and its `operationId` in the OpenAPI document. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/**
 * The endpoints as Koa middleware. Refusals have a fixed order: 404 and 405 for the path, then 401, 403 for the plan
 * and the module, 413, 415 and malformed JSON, 400, and then the failures of the endpoint itself.
 */
export function mount(endpoints: Endpoints, api: Api): HttpMiddleware {
  // A router tries one route after the other: those of each first word have one of their own.
  const routers = new Map<string, Router<HttpState>>();
  for (const { endpoint, method, path } of byPrecision(endpoints)) {
    const handle = handler(endpoint, api);
    const word = firstWord(path);
    if (word.startsWith(':')) throw new Error(`${path} must begin with a word`);
    const router = routers.get(word) ?? new Router<HttpState>({ prefix: PREFIX, sensitive: true, strict: true });
    routers.set(word, router);
    router.register(path, [method], async (ctx) => {
      if (mostPrecise(ctx as unknown as Matched)[0]?.path !== PREFIX + path) throw unmatched(ctx as unknown as Matched);
      ctx.state.exchange.route = path;
      await handle(ctx, ctx.params);
    });
  }
  const dispatches = new Map([...routers].map(([word, router]) => [word, router.routes()]));
  return async (ctx, next) => {
    if (!ctx.path.startsWith(PREFIX)) return next();
    const dispatch = dispatches.get(firstWord(ctx.path.slice(PREFIX.length)));
    if (!dispatch) throw unmatched({});
    // The router's context type includes its own additions, which the router makes before it calls a handler.
    await dispatch(ctx as Parameters<typeof dispatch>[0], () => Promise.reject(unmatched(ctx as unknown as Matched)));
  };
}

/** Of a path that begins with a slash. */
const firstWord = (path: string): string => path.split('/', 2)[1] ?? '';

export function partsOf(route: Endpoint['route']): { method: string; path: string } {
  const [method = '', path = ''] = route.split(' ');
  return { method, path };
}

/**
 * Sorts `/contracts/stats` before `/contracts/:id`, in whichever order they are declared, since the router uses the
 * first match.
 */
function byPrecision(endpoints: Endpoints) {
  const rows = Object.values(endpoints).map((endpoint) => {
    const parts = partsOf(endpoint.route);
    return { endpoint, ...parts, key: parts.path.replaceAll(/:\w+/g, '\uffff') };
  });
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

interface Matched {
  readonly matched?: readonly { readonly path: string; readonly methods: readonly string[] }[];
}

/**
 * The most precise of the routes that match a path: `PATCH /contracts/export` uses a wrong method of that route and is
 * not treated as `PATCH /contracts/:id`.
 */
const mostPrecise = ({ matched = [] }: Matched): NonNullable<Matched['matched']> =>
  matched.filter(({ path }) => path === matched[0]?.path);

/** 405 if the path exists for other methods, otherwise 404; no token is required to get either. */
function unmatched(ctx: Matched): Error {
  const methods = [...new Set(mostPrecise(ctx).flatMap((layer) => layer.methods))].toSorted();
  return methods.length === 0 ? fail('NOT_FOUND', {}) : problem(405, undefined, { Allow: methods.join(', ') });
}
