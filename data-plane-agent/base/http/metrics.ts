import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { constantTimeEqual } from '../secrets.js';
import { fail } from '../failures.js';
import type { Served } from './exchange.js';
import type { Page } from './pages.js';
import { problem } from './problems.js';

/** What waits in a queue of messages: how many, and since when the oldest, in seconds. */
export interface QueueReading {
  readonly waiting: number;
  readonly oldestSeconds: number;
}

/** An attempt to deliver a message. All labels have few values. */
export interface DeliveryLabels {
  readonly queue: 'mail' | 'outbox';
  readonly kind: string;
  readonly result: 'sent' | 'skipped' | 'queued' | 'failed';
}

/** Reads the connection counts of a database pool. */
export type PoolReading = () => { readonly used: number; readonly free: number; readonly waiting: number };

/** What one process has measured, in a form that can be sent to another one. */
export type MeasuredMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * What the other processes of the service have measured, which are told what this one has; null if not all of them have
 * answered in time.
 */
export type OtherProcesses = (own: MeasuredMetrics) => Promise<readonly MeasuredMetrics[] | null>;

export interface Metrics {
  observe(served: Served): void;
  /** Makes a counter with one label, of which all values are known. */
  counter<V extends string>(counted: Counted<V>): (value: V, by?: number) => void;
  /** Makes a counter with several labels. All their values are known, and few. */
  tally<L extends string>(tallied: Tallied<L>): (labels: Readonly<Record<L, string>>, by?: number) => void;
  /** Makes a histogram of seconds with one label. */
  durations(measured: Measured): (value: string, seconds: number) => void;
  /** Shows readings by one label, taken at each scrape. */
  readings(read: Read): void;
  /** Shows one reading of the database, taken at each scrape; none while it is undefined. */
  reading(read: ReadOne): void;
  delivered(attempt: DeliveryLabels): void;
  /** For metrics of a single program; undefined if nothing is measured. */
  readonly registry: Registry | undefined;
  /** What this process has measured; nothing if nothing is measured. */
  measured(): Promise<MeasuredMetrics>;
  /** Answers for all processes of the service. */
  readonly page: Page;
}

export interface Tallied<L extends string> {
  readonly name: `duebook_${string}_total`;
  readonly help: string;
  readonly labels: readonly L[];
}

export interface Measured {
  readonly name: `duebook_${string}_seconds`;
  readonly help: string;
  readonly label: string;
}

export interface Read {
  readonly name: `duebook_${string}`;
  readonly help: string;
  readonly label: string;
  readonly read: () => Promise<Readonly<Record<string, number>>>;
}

export interface ReadOne {
  readonly name: `duebook_${string}`;
  readonly help: string;
  readonly read: () => Promise<number | undefined>;
}

export interface Counted<V extends string> {
  readonly name: `duebook_${string}_total`;
  readonly help: string;
  readonly label: string;
  readonly values: readonly V[];
}

const PATH = '/metrics';

/** Prometheus metrics, protected by a separate token. Without a token the page is a 404 and nothing is measured. */
export function createMetrics({
  token,
  pools,
  queues,
  others,
}: {
  token: string | undefined;
  pools: Readonly<Record<string, PoolReading>>;
  /** Called at each scrape. */
  queues?: (() => Promise<Readonly<Record<string, QueueReading>>>) | undefined;
  /** If the service has several processes. */
  others?: OtherProcesses | undefined;
}): Metrics {
  if (token === undefined)
    return {
      observe: () => undefined,
      counter: () => () => undefined,
      tally: () => () => undefined,
      durations: () => () => undefined,
      readings: () => undefined,
      reading: () => undefined,
      delivered: () => undefined,
      registry: undefined,
      measured: () => Promise.resolve([]),
      page: { path: PATH, answer: () => Promise.reject(fail('NOT_FOUND', {})) },
    };
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
  const deliveries = new Counter({
    name: 'duebook_deliveries_total',
    help: 'Attempts to deliver messages, by queue, kind of channel and result.',
    labelNames: ['queue', 'kind', 'result'],
    registers: [registry],
  });
  gaugePools(pools, registry);
  if (others)
    new Gauge({
      name: 'duebook_processes',
      help: 'Processes of the service that answer requests.',
      registers: [registry],
    }).set(1); // summed
  if (queues) gaugeQueues(queues, registry);

  return {
    // Route templates only: paths contain ids, which would make the number of labels unbounded.
    observe: ({ method, route = 'none', status, durationMs }) => {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, durationMs / 1000);
    },
    counter: ({ name, help, label, values }) => {
      const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
      for (const value of values) counter.inc({ [label]: value }, 0); // shown before the first event
      return (value, by = 1) => counter.inc({ [label]: value }, by);
    },
    tally: ({ name, help, labels }) => {
      const counter = new Counter({ name, help, labelNames: [...labels], registers: [registry] });
      return (values, by = 1) => counter.inc({ ...values }, by);
    },
    durations: ({ name, help, label }) => {
      const histogram = new Histogram({ name, help, labelNames: [label], buckets: BUCKETS_S, registers: [registry] });
      return (value, seconds) => histogram.observe({ [label]: value }, seconds);
    },
    readings: ({ name, help, label, read }) => {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect: async () => {
          gauge.reset();
          for (const [value, reading] of Object.entries(await read())) gauge.set({ [label]: value }, reading);
        },
      });
    },
    reading: ({ name, help, read }) => {
      const gauge: Gauge = new Gauge({
        name,
        help,
        aggregator: OF_THE_DATABASE,
        registers: [registry],
        collect: async () => {
          gauge.remove();
          const value = await read();
          if (value !== undefined) gauge.set(value);
        },
      });
    },
    delivered: ({ queue, kind, result }) => deliveries.inc({ queue, kind, result }),
    registry,
    measured: () => registry.getMetricsAsJSON(),
    page: {
      path: PATH,
      answer: async (ctx) => {
        const sent = /^Bearer +(.+)$/i.exec(ctx.req.headers.authorization ?? '')?.[1] ?? '';
        if (!constantTimeEqual(sent, token)) throw fail('UNAUTHENTICATED', {});
        const text = await textOf(registry, others);
        ctx.set('Content-Type', registry.contentType);
        ctx.status = 200;
        ctx.body = text;
      },
    },
  };
}

/**
 * The metrics of the service: counters and histograms of all processes are summed, and gauges as each one says. A sum
 * without one of the processes would look like a restart of all, so that there is none.
 */
async function textOf(registry: Registry, others: OtherProcesses | undefined): Promise<string> {
  if (!others) return registry.metrics();
  // A copy: the library returns its counters, which count on while the others answer. The sum would be more than what the
  // others know of this process, and would fall if it ended.
  const own = structuredClone(await registry.getMetricsAsJSON());
  const measured = await others(own);
  if (!measured) throw problem(503, 'Not every process has answered in time', { 'Retry-After': '1' });
  return AggregatorRegistry.aggregate([own, ...measured]).metrics();
}

/** Each process reads the same from the database. */
const OF_THE_DATABASE = 'max';

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

function gaugeQueues(read: () => Promise<Readonly<Record<string, QueueReading>>>, registry: Registry): void {
  const gauge = (name: string, help: string, valueOf: (reading: QueueReading) => number): void => {
    const one = new Gauge({
      name,
      help,
      labelNames: ['queue'],
      aggregator: OF_THE_DATABASE,
      registers: [registry],
      collect: async () => {
        one.reset();
        for (const [queue, reading] of Object.entries(await read())) one.set({ queue }, valueOf(reading));
      },
    });
  };
  gauge(
    'duebook_outbox_oldest_seconds',
    'How long the oldest due message of a queue has been due.',
    ({ oldestSeconds }) => oldestSeconds,
  );
  gauge(
    'duebook_outbox_waiting',
    'Due mails, and organisations with due messages in their outbox; at most 1000 are counted.',
    ({ waiting }) => waiting,
  );
}
