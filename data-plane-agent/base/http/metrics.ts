import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { constantTimeEqual } from '../secrets.js';
import { fail } from '../failures.js';
import type { Served } from './exchange.js';
import type { Page } from './pages.js';

/** Reads the connection counts of a database pool. */
export type PoolReading = () => { readonly used: number; readonly free: number; readonly waiting: number };

export interface Metrics {
  observe(served: Served): void;
  readonly page: Page;
}

const PATH = '/metrics';

/** Prometheus metrics, protected by a separate token. Without a token the page is a 404 and nothing is measured. */
export function createMetrics({
  token,
  pools,
}: {
  token: string | undefined;
  pools: Readonly<Record<string, PoolReading>>;
}): Metrics {
  if (token === undefined)
    return { observe: () => undefined, page: { path: PATH, answer: () => Promise.reject(fail('NOT_FOUND', {})) } };
  const registry = new Registry();
  // Process, event-loop lag, garbage collection.
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'duebook_http_requests_total',
    help: 'Requests by method, route template and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'duebook_http_request_duration_seconds',
    help: 'Time from the start of the request to the end of its response.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS_S,
    registers: [registry],
  });
  gaugePools(pools, registry);

  return {
    // Route templates only: paths contain ids, which would make the number of labels unbounded.
    observe: ({ method, route = 'none', status, durationMs }) => {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, durationMs / 1000);
    },
    page: {
      path: PATH,
      answer: async (ctx) => {
        const sent = /^Bearer +(.+)$/i.exec(ctx.req.headers.authorization ?? '')?.[1] ?? '';
        if (!constantTimeEqual(sent, token)) throw fail('UNAUTHENTICATED', {});
        const text = await registry.metrics();
        ctx.set('Content-Type', registry.contentType);
        ctx.status = 200;
        ctx.body = text;
      },
    },
  };
}

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function gaugePools(pools: Readonly<Record<string, PoolReading>>, registry: Registry): void {
  const gauge = new Gauge({
    name: 'duebook_database_connections',
    help: 'Connections of a database pool by state; `waiting` counts callers without a connection.',
    labelNames: ['database', 'state'],
    registers: [registry],
    collect: () => {
      for (const [database, read] of Object.entries(pools)) {
        for (const [state, count] of Object.entries(read())) gauge.set({ database, state }, count);
      }
    },
  });
}
