import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import { beginExchange, type HttpState } from './exchange.js';
import { setHeaders } from './headers.js';
import { listen, type Listening, type TlsIdentity } from './listen.js';
import { servePages } from './pages.js';
import { livez, readyz } from './probes.js';
import { problem, writeProblems } from './problems.js';

/** The listening socket of a process, open before it has anything to serve. */
export interface Front extends Listening {
  /** Routes all further requests to the app, unless `refuse` has answered them. */
  serve(app: Koa<HttpState>, refuse?: (request: IncomingMessage, answer: ServerResponse) => boolean): void;
}

/**
 * Listens immediately. Until there is an app, probes are answered and everything else gets 503. Port 0 picks a free
 * port.
 */
export async function openFront({
  host,
  port,
  tls,
  clock,
  log,
}: {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsIdentity | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<Front> {
  let handle = callbackOf(startingApp({ clock, log }));
  const listening = await listen((request, answer) => handle(request, answer), { host, port, tls });
  const serve: Front['serve'] = (app, refuse = () => false) => {
    const callback = callbackOf(app);
    handle = (request, answer) => {
      if (!refuse(request, answer)) callback(request, answer);
    };
  };
  return { ...listening, serve };
}

function startingApp({ clock, log }: { clock: Clock; log: Log }): Koa<HttpState> {
  const app = new Koa<HttpState>();
  app.use(beginExchange({ clock, observers: [] }));
  app.use(writeProblems({ log, isTransient: () => false }));
  app.use(setHeaders);
  app.use(servePages([livez, readyz({ ready: () => Promise.resolve(false) })]));
  app.use(() => Promise.reject(problem(503, 'Starting', { 'Retry-After': '1' })));
  return app;
}

/** Koa's callback returns a promise that never rejects: Koa handles errors itself. */
function callbackOf(app: Koa<HttpState>): (request: IncomingMessage, answer: ServerResponse) => void {
  const callback = app.callback();
  return (request, answer) => void callback(request, answer);
}
