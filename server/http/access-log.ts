import type { Log } from '../../data-plane-agent/base/log.js';
import type { Served } from './exchange.js';

/** One line for each request: no bodies, no query, no tokens. */
export const accessLog = (log: Log) => ({ exchange, method, route, status, durationMs, aborted }: Served): void => {
  const { info, tenantId } = exchange;
  log.info({ requestId: info.id, tenantId, method, route, status, ms: Math.round(durationMs * 10) / 10, ...(aborted ? { aborted } : {}) }, 'request');
};
