import Koa from 'koa';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import { accessLog } from './access-log.js';
import { beginExchange, type HttpMiddleware, type HttpState, type Served } from './exchange.js';
import { allowOrigins, refuseMalformed, setHeaders } from './headers.js';
import { nothingHere, servePages, type Page } from './pages.js';
import { writeProblems } from './problems.js';

export interface HttpAppOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How many proxies in front are ours. */
  readonly trustProxy: number;
  readonly corsOrigins: readonly string[];
  readonly observers: readonly ((served: Served) => void)[];
  /** Whether what was thrown says that something is away and comes back: 503 instead of 500. */
  readonly isTransient: (error: unknown) => boolean;
  /** Sees what is refused, by whatever stands further in. */
  readonly watch?: HttpMiddleware;
  readonly pages: readonly Page[];
  /** After the pages, in this order. */
  readonly routes: readonly HttpMiddleware[];
}

/** HTTP as every process of ours speaks it, from the outside in. */
export function createHttpApp(options: HttpAppOptions): Koa<HttpState> {
  const { log, clock, trustProxy, watch } = options;
  // Without a count, the left-most address of X-Forwarded-For would be believed, which anyone can write.
  const app = new Koa<HttpState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy });
  const cors = allowOrigins(options.corsOrigins);
  app.use(beginExchange({ clock, observers: [accessLog(log), ...options.observers] }));
  app.use(writeProblems({ log, isTransient: options.isTransient }));
  if (watch) app.use(watch);
  app.use(setHeaders);
  app.use(refuseMalformed);
  if (cors) app.use(cors);
  app.use(servePages(options.pages));
  for (const route of options.routes) app.use(route);
  app.use(nothingHere);
  // What Koa itself reports: a connection that broke while it was written to.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection error'));
  return app;
}
