import { systemClock } from '../data-plane-agent/base/clock.js';
import { collectGarbage } from '../data-plane-agent/base/collect-garbage.js';
import { ConfigurationError } from '../data-plane-agent/base/config.js';
import type { MeasuredMetrics } from '../data-plane-agent/base/http/metrics.js';
import { memoryModeOf, saveMemoryWhenIdle } from '../data-plane-agent/base/idle-memory.js';
import { createLifecycle } from '../data-plane-agent/base/lifecycle.js';
import { createLog } from '../data-plane-agent/base/log.js';
import { readServerConfig, type Config } from './config.js';
import { reportFailure } from './failed-start.js';
import { serve } from './serve.js';
import { toWorker, type FromWorker, type ToWorker, type WorkerStart } from './worker-messages.js';

/** Runs one of the processes that share the port of the service: see `supervise.ts`. Sets the exit code. */
export async function work(process: NodeJS.Process): Promise<void> {
  const supervisor = channelTo(process);
  const start = await supervisor.hello();
  const config = configOf(start);
  const log = createLog({ level: config.logLevel, name: 'duebook-server' });
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(process);
  try {
    const { port, services, schedules, measured } = await serve(config, {
      clock: systemClock,
      log,
      lifecycle,
      role: start,
      workers: { count: start.workers, others: supervisor.gather },
      residentBytes: () => process.memoryUsage.rss(),
      // A start leaves as much garbage as it needs memory, and nobody waits for an answer yet.
      beforeFirst: collectGarbage,
    });
    saveMemoryWhenIdle(memoryModeOf(process.versions.node));
    supervisor.onRunJobs(() => schedules.start());
    supervisor.onMeasure(measured);
    supervisor.send({ kind: 'ready', port, isEmpty: !(await services.tenants.any()) });
  } catch (error) {
    reportFailure(error, { process, config, log });
    await lifecycle.stop('cannot start');
    // The channel to the supervisor would keep the process running.
    process.exit();
  }
}

/** The connections of the service to a PostgreSQL database are divided among its processes, each of which needs some. */
const FEWEST_CONNECTIONS = 2;

function configOf({ settings, production, workers }: WorkerStart): Config {
  const read = readServerConfig({ ...settings, ...(production ? { NODE_ENV: 'production' } : {}) });
  // Already checked by the supervisor.
  if (!read.ok) throw new ConfigurationError(read.faults);
  const { keyRing, databasePoolMax } = read.values;
  if (!keyRing) throw new Error('the supervisor has sent no secret keys');
  return {
    ...read.values,
    keyRing,
    production,
    databasePoolMax: Math.max(FEWEST_CONNECTIONS, Math.ceil(databasePoolMax / workers)),
  };
}

interface Channel {
  hello(): Promise<WorkerStart>;
  send(message: FromWorker): void;
  gather(own: MeasuredMetrics): Promise<readonly MeasuredMetrics[] | null>;
  onRunJobs(listener: () => void): void;
  onMeasure(measure: () => Promise<MeasuredMetrics>): void;
}

function channelTo(process: NodeJS.Process): Channel {
  const gathering = new Map<number, (metrics: readonly MeasuredMetrics[] | null) => void>();
  let started: (start: WorkerStart) => void = () => undefined;
  let runJobs: () => void = () => undefined;
  let measure: () => Promise<MeasuredMetrics> = () => Promise.resolve([]);
  let last = 0;
  const send = (message: FromWorker): void => void process.send?.(message);
  const received = async (message: ToWorker): Promise<void> => {
    switch (message.kind) {
      case 'start':
        return started(message.start);
      case 'run jobs':
        return runJobs();
      case 'measure':
        return send({ kind: 'metrics', id: message.id, metrics: await measure() });
      case 'gathered':
        gathering.get(message.id)?.(message.metrics);
        gathering.delete(message.id);
    }
  };
  process.on('message', (message: unknown) => {
    const known = toWorker(message);
    if (known) void received(known);
  });
  return {
    hello: () =>
      new Promise((resolve) => {
        started = resolve;
        send({ kind: 'hello' });
      }),
    send,
    gather: (own) =>
      new Promise((resolve) => {
        const id = ++last;
        gathering.set(id, resolve);
        send({ kind: 'gather', id, own });
      }),
    onRunJobs: (listener) => void (runJobs = listener),
    onMeasure: (given) => void (measure = given),
  };
}
