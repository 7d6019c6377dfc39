import type { Database } from '../data-plane-agent/base/database/database.js';
import { openMigrated, type ManagedDatabase } from '../data-plane-agent/base/database/managed.js';
import { openPlane, planeDatabase, type HostedPlane, type HostParts } from '../data-plane-agent/host/open-plane.js';
import type { HostSettings } from '../data-plane-agent/host/settings.js';
import type { Config } from './config.js';
import { refuseUnusableDatabases } from './database-check.js';
import { agentsOnly, embedded, type DataPlanes } from './data-planes/for-tenant.js';
import { PLATFORM_MIGRATIONS } from './store/migrations/index.js';

export type { ManagedDatabase };

/** The foundation of the server: the migrated platform database, and access to contract data. */
export interface Foundation {
  readonly platform: Database;
  readonly dataPlanes: DataPlanes;
  /** The data plane of this process; undefined if only agents store contract data. */
  readonly hosted: HostedPlane | undefined;
  /** Its database. */
  readonly tenant: Database | undefined;
  close(): Promise<void>;
}

/** A data plane hosted by this process, and access to it. */
export interface Hosting {
  readonly hosted: HostedPlane;
  readonly dataPlanes: DataPlanes;
}

/** Opens a hosted data plane. */
export type Host = (settings: HostSettings, parts: HostParts) => Promise<Hosting>;

/** The databases of this installation, without those of agents. */
export function databasesOf(config: Pick<Config, 'edition' | 'platformDatabaseUrl' | 'tenantDatabaseUrl'>): {
  readonly platform: ManagedDatabase;
  readonly tenant?: ManagedDatabase;
} {
  const platform: ManagedDatabase = {
    name: 'platform',
    url: config.platformDatabaseUrl,
    migrations: PLATFORM_MIGRATIONS,
  };
  return keepsContractData(config) ? { platform, tenant: planeDatabase(config) } : { platform };
}

/**
 * Opens and migrates the databases. Throws before anything is written if one cannot be connected to
 * (DatabaseUnreachable), or if both are the same (ConfigurationError). Throws SchemaMismatch if a newer version has
 * migrated one. Only this module depends on the edition.
 */
export async function openFoundation(
  config: Config,
  { host = inProcess, ...parts }: HostParts & { readonly host?: Host | undefined },
): Promise<Foundation> {
  await refuseUnusableDatabases(Object.values(databasesOf(config)));
  const platform = await openMigrated(databasesOf(config).platform, {
    poolMax: config.databasePoolMax,
    log: parts.log,
  });
  try {
    if (!keepsContractData(config))
      return {
        platform,
        dataPlanes: agentsOnly(),
        hosted: undefined,
        tenant: undefined,
        close: () => platform.close(),
      };
    const { hosted, dataPlanes } = await host(config, parts);
    const close = async (): Promise<void> => {
      await hosted.close();
      await platform.close();
    };
    return { platform, dataPlanes, hosted, tenant: hosted.database, close };
  } catch (error) {
    await platform.close();
    throw error;
  }
}

const keepsContractData = ({ edition }: Pick<Config, 'edition'>): boolean => edition !== 'enterprise_hybrid';

const inProcess: Host = async (settings, parts) => {
  const hosted = await openPlane(settings, parts);
  return { hosted, dataPlanes: embedded(hosted.plane) };
};
