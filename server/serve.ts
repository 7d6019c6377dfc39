import { openFront } from '../data-plane-agent/base/http/front.js';
import type { Lifecycle } from '../data-plane-agent/base/lifecycle.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';
import { openTracing } from '../data-plane-agent/base/tracing/open.js';
import { tracingOf } from '../data-plane-agent/base/tracing/settings.js';
import { stopInOrder } from '../data-plane-agent/host/stop-in-order.js';
import { compose, type Composed, type ComposeOptions } from './compose.js';
import type { Config } from './config.js';

export interface Serving extends Composed {
  readonly port: number;
}

/**
 * Listens, composes the service and becomes ready. While databases migrate, probes are answered and other requests get
 * 503. `lifecycle` stops the service.
 */
export async function serve(
  config: Config,
  options: Omit<ComposeOptions, 'accepting' | 'port' | 'tracer'> & { lifecycle: Lifecycle },
): Promise<Serving> {
  const { clock, log, lifecycle } = options;
  const tracer = await openTracing(tracingOf(config), {
    serviceName: 'duebook-server',
    version: versionOf(import.meta.url),
    clock,
    log,
    lifecycle,
  });
  const front = await openFront({ host: config.host, port: config.port, clock, log });
  lifecycle.onStop('http', 'server', front.stop);
  const composed = await compose(config, {
    ...options,
    tracer,
    port: front.port,
    accepting: () => lifecycle.state === 'ready',
  });
  const { hosted, links } = composed.foundation;
  stopInOrder(lifecycle, { ...composed, hosted });
  if (links?.hub) {
    const { hub } = links;
    lifecycle.onStop('agents', 'links', hub.close);
    lifecycle.onStop('agents', 'drain', hub.drain);
    front.onUpgrade(hub.upgrades);
    await hub.start();
  }
  front.serve(composed.app, composed.overload.refuse);
  composed.schedules.start();
  hosted?.background.add(hosted.probes.files());
  lifecycle.ready();
  return { ...composed, port: front.port };
}
