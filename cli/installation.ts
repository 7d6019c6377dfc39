import { existsSync, readFileSync } from 'node:fs';
import { ConfigurationError, type ConfigResult } from '../data-plane-agent/base/config.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import { migrationState, type MigrationState } from '../data-plane-agent/base/database/migrator.js';
import { openDatabase, sqlitePath } from '../data-plane-agent/base/database/open.js';
import { createLog } from '../data-plane-agent/base/log.js';
import type { Composed } from '../server/compose.js';
import { readServerConfig, type Config, type SETTINGS } from '../server/config.js';
import { loadServerConfig } from '../server/config-load.js';
import { embedded, type DataPlanes } from '../server/data-planes/for-tenant.js';
import { refuseUnusableDatabases } from '../server/database-check.js';
import { databasesOf, type ManagedDatabase } from '../server/databases.js';
import { ownSecretKeysPath } from '../data-plane-agent/host/secret-keys.js';
import type { Actor } from '../server/access/actor.js';
import { newId } from '../data-plane-agent/base/ids.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';

/**
 * The configuration that the server would run with. Generates missing secret keys outside production, as the server
 * does. Prints warnings unless `quiet`. Throws ConfigurationError or DatabaseUnreachable.
 */
export async function configuration({ env, io }: Cli, { quiet }: { quiet: boolean }): Promise<Config> {
  const loaded = await loadServerConfig(env());
  if (!loaded.ok) throw new ConfigurationError(loaded.faults);
  if (!quiet) for (const { name, problem } of loaded.warnings) io.message(`Warning: ${name} ${problem}`);
  return loaded.config;
}

export type LookedAt = ConfigResult<typeof SETTINGS> & { readonly ok: true };

/** The configuration for a read-only command: creates nothing. Secret keys that do not exist yet are undefined. */
export function lookAtConfiguration({ env }: Cli): LookedAt {
  const variables = env();
  const first = readServerConfig(variables);
  const path = first.ok && !first.values.keyRing ? ownSecretKeysPath(first.values.dataDir) : undefined;
  const result =
    path !== undefined && existsSync(path)
      ? readServerConfig(variables, { secretKeys: readFileSync(path, 'utf8').trim() })
      : first;
  if (!result.ok) throw new ConfigurationError(result.faults);
  return result;
}

/** Runs `work` on the services of the server, without HTTP. Migrates the databases first. */
export async function withInstallation<T>(
  config: Config,
  { clock, server }: Cli,
  work: (installation: Composed) => Promise<T>,
): Promise<T> {
  const { compose } = await server();
  // Errors are thrown to the command, which reports them; a log would report them twice.
  const composed = await compose(config, { clock, log: createLog({ level: 'silent', name: 'duebook' }) });
  try {
    return await work(composed);
  } finally {
    await composed.close();
  }
}

/** Opens both databases and the data planes for a command. Throws NOT_MIGRATED instead of migrating. */
export async function withPlanes<T>(config: Config, { clock }: Cli, work: (planes: Planes) => Promise<T>): Promise<T> {
  const databases = databasesOf(config);
  await refuseUnusableDatabases(Object.values(databases));
  return withMigrated(databases.platform, config, (platform) => {
    if (!databases.tenant) return withAgents(config, { clock, platform }, work);
    return withMigrated(databases.tenant, config, async (tenant) => {
      const { createLocalDataPlane, OPERATIONS } = await import('./plane-parts.js');
      const plane = createLocalDataPlane({ operations: OPERATIONS, database: tenant, clock, keyRing: config.keyRing });
      return work({ platform, tenant, dataPlanes: embedded(plane) });
    });
  });
}

/** Agents are reached through the replicas of the service that hold their sessions, or at their endpoints. */
async function withAgents<T>(
  config: Config,
  { clock, platform }: { readonly clock: Cli['clock']; readonly platform: Database },
  work: (planes: Planes) => Promise<T>,
): Promise<T> {
  const log = createLog({ level: 'silent', name: 'duebook' });
  const { createLinks } = await import('./plane-parts.js');
  const links = createLinks(config, { database: platform, clock, log });
  try {
    return await work({ platform, tenant: undefined, dataPlanes: links.dataPlanes });
  } finally {
    links.close();
  }
}

export interface Planes {
  readonly platform: Database;
  /** Undefined when only agents keep contract data. */
  readonly tenant: Database | undefined;
  readonly dataPlanes: DataPlanes;
}

/**
 * Opens the platform database. Throws NOT_MIGRATED instead of migrating: only `migrate` and `bootstrap` change the
 * schema.
 */
export async function withPlatform<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const { platform } = databasesOf(config);
  await refuseUnusableDatabases([platform]);
  return withMigrated(platform, config, work);
}

async function withMigrated<T>(
  managed: ManagedDatabase,
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  if ((await stateOf(managed, config)).pending.length > 0)
    throw new CommandError(
      'NOT_MIGRATED',
      `the ${managed.name} database is not up to date; run "duebook migrate" first`,
    );
  return withDatabase(managed, config, work);
}

export async function withDatabase<T>(
  { url }: ManagedDatabase,
  { databasePoolMax }: Pick<Config, 'databasePoolMax'>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url, { poolMax: databasePoolMax });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The applied and pending migrations. Does not create a missing SQLite file. */
export async function stateOf(
  managed: ManagedDatabase,
  config: Pick<Config, 'databasePoolMax'>,
): Promise<MigrationState> {
  const file = sqlitePath(managed.url);
  if (file !== undefined && !existsSync(file)) return { applied: [], pending: managed.migrations.map(({ id }) => id) };
  return withDatabase(managed, config, (database) => migrationState(database, managed.migrations));
}

/** The actor that audit events name for what a command does. */
export const cliActor = (): Actor => ({ kind: 'cli', id: null, name: 'duebook', ip: null, requestId: newId() });
