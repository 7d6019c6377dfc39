import type { Clock } from '../../data-plane-agent/base/clock.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createSweep } from '../../server/collections/sweep.js';
import { createReminderSweeps, type ReminderSweeps, type SweepsParts } from '../../server/collections/sweeps.js';
import { startServer, type DatabaseKind, type TestServer } from './server.js';

/** The scheduled sweeps as in another process of the installation, on the same databases. */
export const sweepReplica = (
  { foundation }: TestServer,
  { clock, database = foundation.platform, ...changes }: { clock: Clock } & Partial<SweepsParts>,
): ReminderSweeps =>
  createReminderSweeps({
    database,
    clock,
    log: createLog({ level: 'silent', name: 'test' }),
    dataPlanes: foundation.dataPlanes,
    sweep: createSweep({ database, onDecided: () => undefined }),
    onSwept: () => undefined,
    ...changes,
  });

/** Another server of the same installation. */
export const serverBeside = (
  { config }: TestServer,
  { clock, database, env = {} }: { clock: Clock; database: DatabaseKind; env?: Readonly<Record<string, string>> },
): Promise<TestServer> =>
  startServer({
    clock,
    database: 'sqlite',
    env: {
      DATA_DIR: config.dataDir,
      ...(database === 'postgres'
        ? { PLATFORM_DATABASE_URL: config.platformDatabaseUrl, TENANT_DATABASE_URL: config.tenantDatabaseUrl }
        : {}),
      ...env,
    },
  });
