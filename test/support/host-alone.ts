import { text } from 'node:stream/consumers';
import { createHttpApp } from '../../data-plane-agent/base/http/app.js';
import type { HttpMiddleware } from '../../data-plane-agent/base/http/exchange.js';
import { openFront } from '../../data-plane-agent/base/http/front.js';
import { createMetrics } from '../../data-plane-agent/base/http/metrics.js';
import { livez, readyz } from '../../data-plane-agent/base/http/probes.js';
import { openPlane, type HostedPlane, type HostParts } from '../../data-plane-agent/host/open-plane.js';
import type { HostSettings } from '../../data-plane-agent/host/settings.js';
import type { WireRequest } from '../../data-plane-agent/plane/contract/wire.js';
import { OPERATION_NAMES } from '../../data-plane-agent/plane/operations/index.js';
import { serve } from '../../data-plane-agent/plane/serve.js';

/**
 * A program that hosts a data plane and nothing else, like an agent: operations, signed URLs, health and metrics over
 * HTTP. `test/guarantees/imports.test.ts` checks that it imports nothing from the server.
 */
export async function hostAlone(
  settings: Omit<HostSettings, 'publicUrl'> & { readonly metricsToken?: string | undefined },
  { routes = [], ...parts }: HostParts & { readonly routes?: readonly HttpMiddleware[] },
): Promise<{ readonly hosted: HostedPlane; readonly port: number; stop(): Promise<void> }> {
  const front = await openFront({ host: '127.0.0.1', port: 0, ...parts });
  const hosted = await openPlane({ ...settings, publicUrl: `http://127.0.0.1:${front.port}` }, parts);
  const answer = serve(hosted.plane, OPERATION_NAMES, (error) =>
    parts.log.error({ err: error }, 'a fault of the plane'),
  );
  const operations: HttpMiddleware = async (ctx, next) => {
    if (ctx.path !== OPERATIONS_PATH) return next();
    const disconnected = new AbortController();
    ctx.res.once('close', () => disconnected.abort());
    ctx.body = { ...(await answer(JSON.parse(await text(ctx.req)) as WireRequest, { signal: disconnected.signal })) };
  };
  const metrics = createMetrics({ token: settings.metricsToken, pools: { tenant: () => hosted.database.pool() } });
  const pages = [livez, readyz({ ready: () => hosted.probes.database(1_000) }), metrics.page];
  front.serve(
    createHttpApp({
      ...parts,
      trustProxy: 0,
      corsOrigins: [],
      observers: [metrics.observe],
      isTransient: () => false,
      pages,
      routes: [operations, ...routes, ...hosted.routes],
    }),
  );
  return { hosted, port: front.port, stop: front.stop };
}

/** Receives one message and answers it. */
export const OPERATIONS_PATH = '/operations';
