import type { DataPlane } from '../data-plane-agent/plane/contract/data-plane.js';
import type { Operations } from '../data-plane-agent/plane/operations/index.js';
import { createLog, type Log } from '../data-plane-agent/base/log.js';
import { isFailure } from '../data-plane-agent/base/failures.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import { planeDatabase } from '../data-plane-agent/host/plane-database.js';
import type { Config } from '../server/config.js';
import { ArchiveFault } from '../server/data-planes/archive/archive-fault.js';
import type { ArchivesOptions } from '../server/data-planes/archive/export.js';
import { refuseUnusableDatabases } from '../server/database-check.js';
import { createTenantLookup, type TenantRecord } from '../server/tenants/lookup.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';
import { stateOf, withPlatform } from './installation.js';

/** All data of one organisation, wherever its contract data is. */
export interface TenantArchives {
  readonly options: ArchivesOptions;
  readonly tenant: TenantRecord;
}

/**
 * Opens the data plane of an organisation with its files: in this installation, or over the link to its agent. Throws
 * NOT_FOUND for an unknown organisation, and NOT_MIGRATED.
 */
export function withTenantArchives<T>(
  config: Config,
  { cli, slug }: { readonly cli: Cli; readonly slug: string },
  work: (archives: TenantArchives) => Promise<T>,
): Promise<T> {
  return withPlatform(config, async (database) => {
    const tenant = await createTenantLookup({ database }).bySlug(slug);
    if (!tenant) throw new CommandError('NOT_FOUND', `there is no organisation ${slug}`);
    const log = createLog({ level: 'silent', name: 'duebook' });
    const { plane, close } = await openedPlane(config, { cli, database, log, tenantId: tenant.id });
    try {
      const product = { name: config.productName, version: versionOf(import.meta.url) };
      return await work({ options: { database, clock: cli.clock, log, plane: () => plane, product }, tenant });
    } catch (error) {
      throw commandErrorOf(error);
    } finally {
      await close();
    }
  });
}

/** What the archives throw, as the error of a command. */
export function commandErrorOf(error: unknown): unknown {
  if (error instanceof ArchiveFault) return new CommandError(error.code, error.message, { cause: error });
  if (isFailure(error, 'DATA_PLANE_DENIED'))
    return new CommandError(error.code, 'the policy of the agent refuses a step; nothing was changed', {
      cause: error,
    });
  return error;
}

interface Opened {
  readonly plane: DataPlane<Operations>;
  close(): Promise<void>;
}

async function openedPlane(
  config: Config,
  { cli, database, log, tenantId }: { readonly cli: Cli; database: Database; log: Log; readonly tenantId: string },
): Promise<Opened> {
  if (config.edition === 'enterprise_hybrid') {
    const { createLinks } = await import('./plane-parts.js');
    const links = createLinks(config, { database, clock: cli.clock, log });
    return {
      plane: links.dataPlanes.forTenant(tenantId),
      close: () => {
        links.close();
        return Promise.resolve();
      },
    };
  }
  const managed = planeDatabase(config);
  await refuseUnusableDatabases([managed]);
  if ((await stateOf(managed, config)).pending.length > 0)
    throw new CommandError('NOT_MIGRATED', 'the tenant database is not up to date; run "duebook migrate" first');
  const { openPlane } = await cli.server();
  return openPlane(config, { clock: cli.clock, log, residentBytes: () => 0 });
}
