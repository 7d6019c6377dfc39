import { setTimeout as sleep } from 'node:timers/promises';
import { openFront, type Front } from '../data-plane-agent/base/http/front.js';
import type { Lifecycle } from '../data-plane-agent/base/lifecycle.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';
import { openTracing } from '../data-plane-agent/base/tracing/open.js';
import { tracingOf } from '../data-plane-agent/base/tracing/settings.js';
import { stopInOrder } from '../data-plane-agent/host/stop-in-order.js';
import { compose, type Composed, type ComposeOptions } from './compose.js';
import type { WorkerRole } from './worker-messages.js';
import type { Config } from './config.js';

export interface Serving extends Composed {
  readonly port: number;
}

type ServeOptions = Omit<ComposeOptions, 'accepting' | 'port' | 'tracer'> & {
  readonly lifecycle: Lifecycle;
  readonly role?: WorkerRole;
  /** Called when all is there, before the first request is taken. */
  readonly beforeFirst?: () => void;
};

/**
 * Listens, composes the service and becomes ready. While databases migrate, probes are answered and other requests get
 * 503. `lifecycle` stops the service. A process that is to listen only `when ready`, since others of the service answer
 * meanwhile, gets no requests before.
 */
export async function serve(config: Config, { role = ALONE, beforeFirst, ...options }: ServeOptions): Promise<Serving> {
  const { clock, log, lifecycle } = options;
  const tracer = await openTracing(tracingOf(config), {
    serviceName: 'duebook-server',
    version: versionOf(import.meta.url),
    clock,
    log,
    lifecycle,
  });
  const open = async (): Promise<Front> => {
    const opened = await openFront({ host: config.host, port: config.port, clock, log });
    lifecycle.onStop('http', 'server', opened.stop);
    return opened;
  };
  const early = role.listens === 'at once' ? await open() : undefined;
  const composed = await compose(config, {
    ...options,
    tracer,
    port: early?.port,
    accepting: () => lifecycle.state === 'ready',
  });
  const { hosted, links } = composed.foundation;
  stopInOrder(lifecycle, { ...composed, hosted });
  beforeFirst?.();
  const front = early ?? (await open());
  lifecycle.onStop('http', 'drain', () => {
    front.drain();
    return sleep(config.drainSeconds * 1_000);
  });
  if (links?.hub) {
    const { hub } = links;
    lifecycle.onStop('agents', 'links', hub.close);
    lifecycle.onStop('agents', 'drain', hub.drain);
    front.onUpgrade(hub.upgrades);
    await hub.start();
  }
  front.serve(composed.app, composed.overload.refuse);
  composed.schedules.start(role.runsJobs ? 'all' : 'everywhere');
  hosted?.background.add(hosted.probes.files());
  lifecycle.ready();
  return { ...composed, port: front.port };
}

/** One process is the whole service. */
const ALONE: WorkerRole = { listens: 'at once', runsJobs: true };
