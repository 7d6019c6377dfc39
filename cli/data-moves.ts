import { existsSync } from 'node:fs';
import { sqlitePath } from '../data-plane-agent/base/database/open.js';
import { createLog } from '../data-plane-agent/base/log.js';
import { planeDatabase } from '../data-plane-agent/host/plane-database.js';
import type { Config } from '../server/config.js';
import { MoveFault } from '../server/data-planes/moving/move-fault.js';
import type { DataMoves } from '../server/data-planes/moving/moves.js';
import { refuseUnusableDatabases } from '../server/database-check.js';
import { createTenantLookup, type TenantRecord } from '../server/tenants/lookup.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';
import { withPlatform } from './installation.js';

/** The moves of one organisation. */
export interface MovesOfTenant {
  readonly moves: DataMoves;
  readonly tenant: TenantRecord;
}

/**
 * Opens the data plane of the installation, which the service itself does not use in this edition, and the links to
 * agents. Throws AGENTS_NOT_USED outside the edition with agents, NOT_FOUND for an unknown organisation, and
 * NO_TENANT_DATABASE if there is to be one and is not.
 */
export async function withDataMoves<T>(
  config: Config,
  { cli, slug, isSource }: { readonly cli: Cli; readonly slug: string; readonly isSource: boolean },
  work: (moves: MovesOfTenant) => Promise<T>,
): Promise<T> {
  if (config.edition !== 'enterprise_hybrid')
    throw new CommandError(
      'AGENTS_NOT_USED',
      `with EDITION=${config.edition} the service uses no agents: data is moved while the service runs with EDITION=enterprise_hybrid`,
    );
  const embedded = planeDatabase(config);
  const file = sqlitePath(embedded.url);
  if (isSource && file !== undefined && !existsSync(file))
    throw new CommandError(
      'NO_TENANT_DATABASE',
      `there is no tenant database at ${file}: set TENANT_DATABASE_URL and the other settings of the data plane as they were`,
    );
  return withPlatform(config, async (platform) => {
    const tenant = await createTenantLookup({ database: platform }).bySlug(slug);
    if (!tenant) throw new CommandError('NOT_FOUND', `there is no organisation ${slug}`);
    await refuseUnusableDatabases([embedded]);
    const { clock } = cli;
    const log = createLog({ level: 'silent', name: 'duebook' });
    const { openPlane } = await cli.server();
    const hosted = await openPlane(config, { clock, log, residentBytes: () => 0 });
    const { createDataMoves, createLinks } = await import('./plane-parts.js');
    const links = createLinks(config, { database: platform, clock, log });
    try {
      const planes = (tenantId: string) => ({ embedded: hosted.plane, agent: links.dataPlanes.forTenant(tenantId) });
      return await work({ moves: createDataMoves({ database: platform, clock, log, planes }), tenant });
    } catch (error) {
      throw error instanceof MoveFault ? new CommandError(error.code, error.message, { cause: error }) : error;
    } finally {
      links.close();
      await hosted.close();
    }
  });
}
