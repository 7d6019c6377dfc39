import { createBackground, type Background } from '../base/background.js';
import type { Clock } from '../base/clock.js';
import type { Database } from '../base/database/database.js';
import { openMigrated, type ManagedDatabase } from '../base/database/managed.js';
import type { HttpMiddleware } from '../base/http/exchange.js';
import type { Log } from '../base/log.js';
import type { Job } from '../base/schedules.js';
import type { DataPlane } from '../plane/contract/data-plane.js';
import type { ObjectStore } from '../plane/files/objects/object-store.js';
import { openFileServices, type OpenedFiles } from '../plane/files/open-services.js';
import { createLocalDataPlane } from '../plane/local/index.js';
import { OPERATIONS, type Operations } from '../plane/operations/index.js';
import { TENANT_MIGRATIONS } from '../plane/store/migrations/index.js';
import { serveFileUrls } from './file-urls.js';
import type { Consumers } from './deliver.js';
import { planeJobs } from './jobs.js';
import { createProbes, type Probes } from './probes.js';
import type { HostSettings } from './settings.js';
import { createUpkeep, type TellTenants } from './upkeep.js';

/** A data plane in this process, with all that the process has to do for it. */
export interface HostedPlane {
  readonly plane: DataPlane<Operations>;
  readonly database: Database;
  /** The object store, the scanner and the reader of documents. */
  readonly files: OpenedFiles;
  /** What goes on after its answer. */
  readonly background: Background;
  readonly probes: Probes;
  /** Signed URLs of files, which are served outside the API; none where an S3 server serves its own. */
  readonly routes: readonly HttpMiddleware[];
  /**
   * What comes round by itself. Which tenants have work due the plane knows; who of them is worked for is told by
   * whoever knows the tenants.
   */
  jobs(parts: { readonly tenants: TellTenants; readonly consumers?: Consumers }): readonly Job[];
  /** After the work: see `stopInOrder`. */
  close(): Promise<void>;
}

export interface HostParts {
  readonly clock: Clock;
  readonly log: Log;
  /** What the process holds of memory, in bytes: a document that blows it up is given up on. */
  readonly residentBytes: () => number;
  /** What files are kept in, given what the settings name; that itself unless this is here. */
  readonly objects?: ((named: ObjectStore) => ObjectStore) | undefined;
}

/** The database that a plane keeps. */
export const planeDatabase = ({ tenantDatabaseUrl }: Pick<HostSettings, 'tenantDatabaseUrl'>): ManagedDatabase => ({
  name: 'tenant',
  url: tenantDatabaseUrl,
  migrations: TENANT_MIGRATIONS,
});

/**
 * Opens and migrates. Throws SchemaMismatch for a database that a newer program has migrated. Asks object store and
 * scanner nothing yet: `probes` do.
 */
export async function openPlane(
  settings: HostSettings,
  { clock, log, residentBytes, objects }: HostParts,
): Promise<HostedPlane> {
  const database = await openMigrated(planeDatabase(settings), { poolMax: settings.databasePoolMax, log });
  try {
    const background = createBackground();
    const files = openFileServices(settings, { clock, log, residentBytes, objects });
    const plane = createLocalDataPlane({
      operations: OPERATIONS,
      database,
      clock,
      keyRing: settings.keyRing,
      external: { files, log, afterwards: background.add },
    });
    return {
      plane,
      database,
      files,
      background,
      probes: createProbes({ database, files, log }),
      routes: files.urls ? [serveFileUrls(files.urls)] : [],
      jobs: ({ tenants, consumers }) =>
        planeJobs({ upkeep: createUpkeep({ database, plane, clock, log, tenants }), files, consumers }),
      async close() {
        await background.settled();
        await files.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
