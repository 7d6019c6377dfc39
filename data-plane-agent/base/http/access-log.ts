import type { Log } from '../log.js';
import type { Served } from './exchange.js';

/**
 * Logs one line per request, identifying the caller by ids only: no names, bodies, query strings or tokens.
 * `docs/logging.md` lists its fields.
 */
export const accessLog =
  (log: Log) =>
  ({ exchange, method, route, status, durationMs, aborted }: Served): void => {
    const { info, caller } = exchange;
    log.info(
      {
        requestId: info.id,
        ...(info.trace ? { traceId: info.trace.traceId } : {}),
        ...caller,
        ip: info.ip,
        method,
        route,
        status,
        ms: Math.round(durationMs * 10) / 10,
        ...(aborted ? { aborted } : {}),
      },
      'request',
    );
  };
