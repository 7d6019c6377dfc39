import { createBackground, type Background } from '../base/background.js';
import type { Clock } from '../base/clock.js';
import type { Database } from '../base/database/database.js';
import { openMigrated } from '../base/database/managed.js';
import type { HttpMiddleware } from '../base/http/exchange.js';
import type { Log } from '../base/log.js';
import type { Job } from '../base/schedules.js';
import type { DataPlane } from '../plane/contract/data-plane.js';
import type { ObjectStore } from '../plane/files/objects/object-store.js';
import { openFileServices, type OpenedFiles } from '../plane/files/open-services.js';
import { createLocalDataPlane } from '../plane/local/index.js';
import { OPERATIONS, type Operations } from '../plane/operations/index.js';
import { serveFileUrls } from './file-urls.js';
import { dueSince } from '../plane/store/due-work.js';
import { planeJobs } from './jobs.js';
import { planeDatabase } from './plane-database.js';
import { createLongWork } from './long-work/long-work.js';
import { createProbes, type Probes } from './probes.js';
import type { HostSettings } from './settings.js';
import { createUpkeep, type FindTenants, type Step } from './upkeep.js';

/** A data plane in this process, with everything the process runs for it. */
export interface HostedPlane {
  readonly plane: DataPlane<Operations>;
  readonly database: Database;
  /** The object store, the scanner and the reader of documents. */
  readonly files: OpenedFiles;
  /** Work that continues after the response was sent. */
  readonly background: Background;
  readonly probes: Probes;
  /** Serve signed URLs of files, outside the API; empty if an S3 server serves its own. */
  readonly routes: readonly HttpMiddleware[];
  /** The periodic jobs. The plane knows which tenants have work due; `tenants` selects those to work for. */
  jobs(parts: { readonly tenants: FindTenants; readonly deliver?: Step }): readonly Job[];
  /** How many tenants have due messages in their outbox, counted up to a limit, and since when the oldest waits. */
  dueMessages(limit: number): Promise<{ readonly count: number; readonly since: number | null }>;
  /** Since when the file that has waited the longest for a scan is due; null if none is. */
  scansDueSince(): Promise<number | null>;
  /** Call after all work has ended: see `stopInOrder`. */
  close(): Promise<void>;
}

export interface HostParts {
  readonly clock: Clock;
  readonly log: Log;
  /** The resident memory of the process, in bytes: reading a document that uses too much is aborted. */
  readonly residentBytes: () => number;
  /** Wraps the object store of the settings; by default it is used directly. */
  readonly objects?: ((named: ObjectStore) => ObjectStore) | undefined;
}

/** Connections to PostgreSQL of the thread for long work: it runs one write and one read at a time. */
const LONG_WORK_POOL = 2;

/**
 * Opens the plane and migrates its database. Throws SchemaMismatch if a newer program has migrated the database. Does
 * not contact the object store or the scanner: `probes` do.
 */
export async function openPlane(
  settings: HostSettings,
  { clock, log, residentBytes, objects }: HostParts,
): Promise<HostedPlane> {
  const database = await openMigrated(planeDatabase(settings), { poolMax: settings.databasePoolMax, log });
  try {
    const background = createBackground();
    const files = openFileServices(settings, { clock, log, residentBytes, objects });
    const longWork = createLongWork({
      settings: {
        databaseUrl: settings.tenantDatabaseUrl,
        poolMax: LONG_WORK_POOL,
        secretKeys: settings.keyRing.reveal(),
      },
      database,
      clock,
      log,
    });
    const plane = createLocalDataPlane({
      operations: OPERATIONS,
      database,
      clock,
      keyRing: settings.keyRing,
      external: { files, log, afterwards: background.add },
      forLong: longWork.plane,
    });
    return {
      plane,
      database,
      files,
      background,
      probes: createProbes({ database, files, log }),
      routes: files.urls ? [serveFileUrls(files.urls)] : [],
      jobs: ({ tenants, deliver }) =>
        planeJobs({ upkeep: createUpkeep({ database, plane, clock, log, tenants }), files, deliver, log }),
      dueMessages: (limit) => dueSince(database, { kind: 'outbox', now: clock.now(), limit }),
      scansDueSince: async () => {
        if (!files.policy.scans) return null;
        return (await dueSince(database, { kind: 'file-scans', now: clock.now(), limit: 1 })).since;
      },
      async close() {
        await background.settled();
        await files.close();
        await longWork.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
