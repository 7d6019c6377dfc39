import { LOOPBACK_RANGES } from '../../data-plane-agent/base/outbound-addresses.js';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { createCalendar, type Calendar, type CalendarParts } from '../../server/integrations/calendar/calendar.js';
import { keyedDatabase } from '../../server/store/keyed-database.js';
import type { TestServer } from './server.js';

/**
 * The calendar service as in another process of the installation, on the same databases. It does not wait between
 * attempts, and gives a provider one second to answer.
 */
export function calendarReplica(
  server: TestServer,
  {
    clock,
    database = server.foundation.platform,
    ...changes
  }: { clock: Clock; database?: Database } & Partial<Omit<CalendarParts, 'database'>>,
): Calendar {
  const { config, foundation } = server;
  return createCalendar({
    database: keyedDatabase({ database, clock, keyRing: config.keyRing }),
    clock,
    keyRing: config.keyRing,
    log: createLog({ level: 'silent', name: 'test' }),
    dataPlanes: foundation.dataPlanes,
    outbound: createOutbound({ allowPrivate: LOOPBACK_RANGES, production: false, totalMs: 1_000 }),
    edition: config.edition,
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    settings: config,
    wait: () => Promise.resolve(),
    ...changes,
  });
}

/** A database that stops to write when its process is killed. */
export function killable(database: Database): { readonly database: Database; kill(): void } {
  let killed = false;
  return {
    database: {
      ...database,
      dialect: database.dialect,
      read: (scope, work) => database.read(scope, work),
      write: (scope, work) =>
        killed ? Promise.reject(new Error('the process was killed')) : database.write(scope, work),
    },
    kill: () => {
      killed = true;
    },
  };
}
