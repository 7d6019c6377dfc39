import { createLog } from '../../data-plane-agent/base/log.js';
import { reportFaults } from '../../data-plane-agent/base/config.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { compose, type Composed } from '../../server/compose.js';
import { loadServerConfig } from '../../server/config-load.js';
import { onceArgon2 } from './accounts.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';

/** The product's services over the data of an installation, without HTTP, like a server that runs beside the CLI. */
export async function withProduct<T>(
  env: Readonly<Record<string, string>>,
  work: (product: Composed) => Promise<T>,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<T> {
  const loaded = await loadServerConfig(env);
  if (!loaded.ok) throw new Error(reportFaults(loaded.faults));
  const log = createLog({ level: 'silent', name: 'test' });
  const product = await compose(loaded.config, { clock, log, argon2: onceArgon2 });
  try {
    return await work(product);
  } finally {
    await product.close();
  }
}

/** The origin of a request, with arbitrary values. */
export const aRequest = (): RequestInfo => ({
  id: 'test-request',
  ip: '127.0.0.1',
  userAgent: 'test',
  origin: undefined,
  secFetchSite: undefined,
  cookies: {},
  ifMatch: undefined,
  receivedAt: Date.now(),
});
