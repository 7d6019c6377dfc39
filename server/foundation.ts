import type { Database } from '../data-plane-agent/base/database/database.js';
import { openMigrated } from '../data-plane-agent/base/database/managed.js';
import type { Tracer } from '../data-plane-agent/base/tracing/spans.js';
import { openPlane, type HostedPlane, type HostParts } from '../data-plane-agent/host/open-plane.js';
import type { HostSettings } from '../data-plane-agent/host/settings.js';
import type { Config } from './config.js';
import { refuseUnusableDatabases } from './database-check.js';
import { databasesOf, keepsContractData } from './databases.js';
import { embedded, type DataPlanes } from './data-planes/for-tenant.js';
import type { LinkConfig, Links } from './data-planes/link/links.js';

/** The foundation of the server: the migrated platform database, and access to contract data. */
export interface Foundation {
  readonly platform: Database;
  readonly dataPlanes: DataPlanes;
  /** The data plane of this process; undefined if only agents store contract data. */
  readonly hosted: HostedPlane | undefined;
  /** Its database. */
  readonly tenant: Database | undefined;
  /** The links to agents; undefined unless only agents store contract data. */
  readonly links: Links | undefined;
  close(): Promise<void>;
}

/** A data plane hosted by this process, and access to it. */
export interface Hosting {
  readonly hosted: HostedPlane;
  readonly dataPlanes: DataPlanes;
  /** If it is called over links, as behind agents. */
  readonly links?: Links | undefined;
}

/** Opens a hosted data plane. */
export type Host = (
  settings: HostSettings & LinkConfig,
  parts: HostParts & { readonly platform: Database; readonly port: number | undefined },
) => Promise<Hosting>;

/**
 * Opens and migrates the databases. Throws before anything is written if one cannot be connected to
 * (DatabaseUnreachable), or if both are the same (ConfigurationError). Throws SchemaMismatch if a newer version has
 * migrated one.
 */
export async function openFoundation(
  config: Config,
  {
    host = inProcess,
    port,
    tracer,
    ...parts
  }: HostParts & {
    readonly host?: Host | undefined;
    /** The port of this process, if it accepts connections of agents. */
    readonly port?: number | undefined;
    /** Records calls to agents. */
    readonly tracer?: Tracer | undefined;
  },
): Promise<Foundation> {
  await refuseUnusableDatabases(Object.values(databasesOf(config)));
  const platform = await openMigrated(databasesOf(config).platform, {
    poolMax: config.databasePoolMax,
    log: parts.log,
  });
  try {
    if (!keepsContractData(config)) {
      // Most installations have no agents.
      const { createLinks } = await import('./data-planes/link/links.js');
      const links = createLinks(config, { ...parts, database: platform, port, tracer });
      const close = async (): Promise<void> => {
        links.close();
        await platform.close();
      };
      return { platform, dataPlanes: links.dataPlanes, hosted: undefined, tenant: undefined, links, close };
    }
    const { hosted, dataPlanes, links } = await host(config, { ...parts, platform, port });
    const close = async (): Promise<void> => {
      links?.close();
      await hosted.close();
      await platform.close();
    };
    return { platform, dataPlanes, hosted, tenant: hosted.database, links, close };
  } catch (error) {
    await platform.close();
    throw error;
  }
}

const inProcess: Host = async (settings, parts) => {
  const hosted = await openPlane(settings, parts);
  return { hosted, dataPlanes: embedded(hosted.plane) };
};
