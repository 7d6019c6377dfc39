import Koa from 'koa';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { Tracer } from '../tracing/spans.js';
import { accessLog } from './access-log.js';
import { beginExchange, type HttpMiddleware, type HttpState, type Served } from './exchange.js';
import { allowOrigins, refuseMalformed, setHeaders } from './headers.js';
import { notFound, servePages, type Page } from './pages.js';
import { writeProblems } from './problems.js';

export interface HttpAppOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Without it requests are no spans. */
  readonly tracer?: Tracer | undefined;
  /** The number of trusted proxies in front of the process. */
  readonly trustProxy: number;
  readonly corsOrigins: readonly string[];
  readonly observers: readonly ((served: Served) => void)[];
  /** Whether an error means that a dependency is temporarily unavailable: 503 instead of 500. */
  readonly isTransient: (error: unknown) => boolean;
  /** Runs around all later middleware and so observes their refusals. */
  readonly watch?: HttpMiddleware;
  readonly pages: readonly Page[];
  /** Run after the pages, in this order. */
  readonly routes: readonly HttpMiddleware[];
}

/** The HTTP middleware shared by all our processes, outermost first. */
export function createHttpApp(options: HttpAppOptions): Koa<HttpState> {
  const { log, clock, tracer, trustProxy, watch } = options;
  // Without a count Koa would trust the left-most address of X-Forwarded-For, which the client can set.
  const app = new Koa<HttpState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy });
  const cors = allowOrigins(options.corsOrigins);
  app.use(beginExchange({ clock, observers: [accessLog(log), ...options.observers], tracer }));
  app.use(writeProblems({ log, isTransient: options.isTransient }));
  if (watch) app.use(watch);
  app.use(setHeaders);
  app.use(refuseMalformed);
  if (cors) app.use(cors);
  app.use(servePages(options.pages));
  for (const route of options.routes) app.use(route);
  app.use(notFound);
  // Koa reports connections that broke while a response was written.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection error'));
  return app;
}
