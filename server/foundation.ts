import { createBackground, type Background } from '../data-plane-agent/base/background.js';
import type { Clock } from '../data-plane-agent/base/clock.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import { migrate, type Migration } from '../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../data-plane-agent/base/database/open.js';
import type { Log } from '../data-plane-agent/base/log.js';
import { openFileServices, type OpenedFiles } from '../data-plane-agent/plane/files/open-services.js';
import { createLocalDataPlane } from '../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../data-plane-agent/plane/operations/index.js';
import { TENANT_MIGRATIONS } from '../data-plane-agent/plane/store/migrations/index.js';
import type { Config } from './config.js';
import { agentsOnly, embedded, type DataPlanes } from './data-planes/for-tenant.js';
import type { Check } from './services/health.js';
import { PLATFORM_MIGRATIONS } from './store/migrations/index.js';

/** What everything else stands on: the databases, brought up to date, and where contract data is. */
export interface Foundation {
  readonly platform: Database;
  /** Absent where contract data is kept by agents alone. */
  readonly tenant: Database | undefined;
  readonly dataPlanes: DataPlanes;
  readonly tenantDb: Check;
  /** The object store, the scanner and the reader of documents; absent with the contract data. */
  readonly files: OpenedFiles | undefined;
  /** What goes on after its answer. */
  readonly background: Background;
  close(): Promise<void>;
}

/** A database that this installation keeps and migrates. */
export interface ManagedDatabase {
  readonly name: 'platform' | 'tenant';
  readonly url: string;
  readonly migrations: readonly Migration[];
}

/** Which databases are ours: contract data that agents keep is not. */
export function databasesOf(config: Pick<Config, 'edition' | 'platformDatabaseUrl' | 'tenantDatabaseUrl'>): { readonly platform: ManagedDatabase; readonly tenant?: ManagedDatabase } {
  const platform: ManagedDatabase = { name: 'platform', url: config.platformDatabaseUrl, migrations: PLATFORM_MIGRATIONS };
  if (config.edition === 'enterprise_hybrid') return { platform };
  return { platform, tenant: { name: 'tenant', url: config.tenantDatabaseUrl, migrations: TENANT_MIGRATIONS } };
}

/** Opens and migrates. Throws SchemaMismatch for a database that a newer program has migrated. The edition is read here and nowhere below. */
export async function openFoundation(config: Config, { clock, log, residentBytes }: { clock: Clock; log: Log; residentBytes: () => number }): Promise<Foundation> {
  const opened: Database[] = [];
  const background = createBackground();
  let files: OpenedFiles | undefined;
  const close = async (): Promise<void> => {
    await background.settled();
    await files?.close();
    for (const database of opened.toReversed()) await database.close();
  };
  const open = async ({ name, url, migrations }: ManagedDatabase): Promise<Database> => {
    const database = await openDatabase(url, { poolMax: config.databasePoolMax });
    opened.push(database);
    const applied = await migrate(database, migrations, (wait) => log.info({ database: name, ...wait }, 'waiting for the migration lock: another program migrates this database'));
    if (applied.length > 0) log.info({ database: name, applied }, 'migrated');
    return database;
  };
  try {
    const managed = databasesOf(config);
    const platform = await open(managed.platform);
    // Without an agent that has joined there is nothing that could be down.
    if (!managed.tenant) return { platform, tenant: undefined, dataPlanes: agentsOnly(), tenantDb: () => Promise.resolve(true), files, background, close };
    const tenant = await open(managed.tenant);
    files = openFileServices(config, { clock, log, residentBytes });
    const plane = createLocalDataPlane({ operations: OPERATIONS, database: tenant, clock, keyRing: config.keyRing, outside: { files, log, afterwards: background.add } });
    return { platform, tenant, dataPlanes: embedded(plane), tenantDb: (timeoutMs) => tenant.ping(timeoutMs), files, background, close };
  } catch (error) {
    await close();
    throw error;
  }
}
