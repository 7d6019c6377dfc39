import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import { beginExchange, type HttpState } from './exchange.js';
import { setHeaders } from './headers.js';
import { listen, type Listening } from './listen.js';
import { servePages } from './pages.js';
import { livez, readyz } from './probes.js';
import { problem, writeProblems } from './problems.js';

/** What is listened on from the first moment of a process, before it has anything to serve. */
export interface Front extends Listening {
  /** From now on requests are the app's. */
  serve(app: Koa<HttpState>): void;
}

/** Listens at once: until there is an app, probes are answered and everything else is 503. Port 0 takes a free one. */
export async function openFront({
  host,
  port,
  clock,
  log,
}: {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<Front> {
  let handle = callbackOf(startingApp({ clock, log }));
  const listening = await listen((request, answer) => handle(request, answer), { host, port });
  return { ...listening, serve: (app) => void (handle = callbackOf(app)) };
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

/** Koa's callback answers a promise that never rejects: what goes wrong ends in Koa's own error path. */
function callbackOf(app: Koa<HttpState>): (request: IncomingMessage, answer: ServerResponse) => void {
  const callback = app.callback();
  return (request, answer) => void callback(request, answer);
}
