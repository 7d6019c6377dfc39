import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { SECURITY_HEADERS } from '../../data-plane-agent/base/http/headers.js';
import type { Metrics } from '../../data-plane-agent/base/http/metrics.js';
import { failureRefusal, JSON_TYPE } from '../../data-plane-agent/base/http/problems.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { Endpoint } from './endpoint.js';
import { PREFIX } from './prefix.js';
import { overloaded, type Turn, type Turns } from './turns.js';

/** Refuses requests that the process cannot answer in time: 503 with `Retry-After`, at once. */
export interface Overload {
  /** Waits until a request of the tenant may begin; not a promise if that is now. Throws OVERLOADED. */
  turn(ctx: HttpContext, tenantId: string): Turn | Promise<Turn>;
  /**
   * Refuses a request before anything is done for it, if its token is one whose requests have waited lately and would
   * have to wait too long now: otherwise most of the time would be spent on authenticating what is then refused. The
   * token decides nothing else. Returns whether the request was answered.
   */
  refuse(request: IncomingMessage, answer: ServerResponse): boolean;
}

/** Health and sign-in come first: they never wait here. Sign-in has a queue of its own, for passwords. */
export const waitsForTurn = ({ route, needs }: Pick<Endpoint, 'route' | 'needs'>): boolean =>
  needs !== 'public' && !COMES_FIRST.test(route.slice(route.indexOf('/')));

const COMES_FIRST = /^\/(auth|health)(\/|$)/;
const MOST_TOKENS = 10_000;
const LOG_EVERY_MS = 10_000;

export function createOverload({
  turns,
  clock,
  log,
  metrics,
}: {
  readonly turns: Turns;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'counter' | 'reading'>;
}): Overload {
  const count = metrics.counter({
    name: 'duebook_overload_refusals_total',
    help: 'Requests refused because they would have waited too long: before authentication, or after.',
    label: 'at',
    values: ['arrival', 'turn'],
  });
  metrics.reading({
    name: 'duebook_requests_waiting',
    help: 'Authenticated requests that wait for their turn.',
    read: () => Promise.resolve(turns.waiting),
  });
  const report = createReport(clock, log);
  /** The tenant of each token whose requests have waited. */
  const tenants = new Map<string, string>();

  const note = ({ req }: HttpContext, tenantId: string): void => {
    const { authorization } = req.headers;
    if (authorization === undefined) return;
    if (tenants.size >= MOST_TOKENS) tenants.clear();
    tenants.set(authorization, tenantId);
  };

  return {
    turn: (ctx, tenantId) => {
      try {
        const turn = turns.take(tenantId);
        if (turn instanceof Promise) note(ctx, tenantId);
        return turn;
      } catch (error) {
        if (!isFailure(error, 'OVERLOADED')) throw error;
        note(ctx, tenantId);
        count('turn');
        report.refused();
        throw error;
      }
    },
    refuse: (request, answer) => {
      if (turns.waiting === 0) return false;
      const { url = '', headers } = request;
      const tenantId = headers.authorization === undefined ? undefined : tenants.get(headers.authorization);
      if (tenantId === undefined || !turns.isOver(tenantId)) return false;
      // A browser reads an answer of another origin only with headers that are not made here.
      if (headers.origin !== undefined || !url.startsWith(`${PREFIX}/`)) return false;
      if (COMES_FIRST.test(url.slice(PREFIX.length).split('?', 1)[0] ?? '')) return false;
      answer.writeHead(503, [...HEADERS, 'X-Request-Id', randomUUID()]);
      answer.end(BODY);
      count('arrival');
      report.refused();
      return true;
    },
  };
}

const REFUSAL = failureRefusal(overloaded());
const BODY = JSON.stringify(REFUSAL.body);
const HEADERS: readonly string[] = [
  ...SECURITY_HEADERS.flat(),
  ...Object.entries(REFUSAL.headers).flatMap(([name, value]) => [name, String(value)]),
  'Cache-Control',
  'no-store',
  'Content-Type',
  JSON_TYPE,
  'Content-Length',
  String(Buffer.byteLength(BODY)),
];

/** One line every ten seconds, with how many requests were refused: a line for each would cost more than the refusal. */
function createReport(clock: Clock, log: Log): { refused(): void } {
  let refusals = 0;
  let loggedAt = -Infinity;
  return {
    refused: () => {
      refusals += 1;
      const now = clock.now();
      if (now - loggedAt < LOG_EVERY_MS) return;
      log.warn({ refusals }, 'overloaded: requests are refused, because they would wait too long');
      loggedAt = now;
      refusals = 0;
    },
  };
}
