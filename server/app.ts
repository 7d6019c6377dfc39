import Koa from 'koa';
import type { Clock } from '../data-plane-agent/base/clock.js';
import { isDatabaseError } from '../data-plane-agent/base/database/errors.js';
import type { Log } from '../data-plane-agent/base/log.js';
import type { FileUrls } from '../data-plane-agent/plane/files/objects/file-system-urls.js';
import { serveFileUrls } from '../data-plane-agent/host/file-urls.js';
import { accessLog } from '../data-plane-agent/base/http/access-log.js';
import { beginExchange, type HttpState, type Served } from '../data-plane-agent/base/http/exchange.js';
import type { Api } from './http/handler.js';
import { allowOrigins, refuseMalformed, setHeaders } from '../data-plane-agent/base/http/headers.js';
import { mount, type Endpoints } from './http/mount.js';
import { nothingHere, servePages, type Page } from '../data-plane-agent/base/http/pages.js';
import { writeProblems } from '../data-plane-agent/base/http/problems.js';
import type { Refusal } from './access/refusal.js';
import { recordRefusals } from './http/refusals.js';

export interface AppOptions {
  readonly endpoints: Endpoints;
  readonly api: Api;
  readonly pages: readonly Page[];
  /** Absent where an S3 server keeps the files, or an agent. */
  readonly fileUrls?: FileUrls | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly corsOrigins: readonly string[];
  /** How many proxies in front are ours. */
  readonly trustProxy: number;
  /** Puts a 403 into the audit. */
  readonly recordRefusal: (refusal: Refusal) => Promise<void>;
  readonly observers: readonly ((served: Served) => void)[];
}

/** The HTTP side of the service, from the outside in. */
export function createApp(options: AppOptions): Koa<HttpState> {
  const { log, clock, trustProxy } = options;
  // Without a count, the left-most address of X-Forwarded-For would be believed, which anyone can write.
  const app = new Koa<HttpState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy });
  const cors = allowOrigins(options.corsOrigins);
  app.use(beginExchange({ clock, observers: [accessLog(log), ...options.observers] }));
  app.use(writeProblems({ log, isTransient }));
  app.use(recordRefusals(options.recordRefusal));
  app.use(setHeaders);
  app.use(refuseMalformed);
  if (cors) app.use(cors);
  app.use(servePages(options.pages));
  if (options.fileUrls) app.use(serveFileUrls(options.fileUrls));
  app.use(mount(options.endpoints, options.api));
  app.use(nothingHere);
  // What Koa itself reports: a connection that broke while it was written to.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection error'));
  return app;
}

/** A database that is away or too busy comes back; anything else that it says is a fault of ours. */
const isTransient = (error: unknown): boolean => isDatabaseError(error, 'unreachable') || isDatabaseError(error, 'timeout') || isDatabaseError(error, 'busy');
