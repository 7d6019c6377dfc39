import { CommandError } from '../base/command-line/errors.js';
import { sqlitePath } from '../base/database/open.js';
import { connectionFault } from '../base/database/postgres-faults.js';
import { postgresIdentity } from '../base/database/postgres-identity.js';
import type { AgentConfig } from './config.js';

export const DATABASE_SETTING = 'TENANT_DATABASE_URL';

/** Why a PostgreSQL database cannot be connected to, and what to do. Undefined if it can, and for SQLite. */
export async function databaseFault({
  tenantDatabaseUrl: url,
}: Pick<AgentConfig, 'tenantDatabaseUrl'>): Promise<{ readonly problem: string; readonly fix: string } | undefined> {
  if (sqlitePath(url) !== undefined) return undefined;
  try {
    await postgresIdentity(url);
    return undefined;
  } catch (error) {
    return connectionFault(error, { url, name: DATABASE_SETTING });
  }
}

/** Throws DATABASE_UNREACHABLE. */
export async function refuseUnusableDatabase(config: Pick<AgentConfig, 'tenantDatabaseUrl'>): Promise<void> {
  const fault = await databaseFault(config);
  if (fault) throw new CommandError('DATABASE_UNREACHABLE', `${DATABASE_SETTING}: ${fault.problem}; ${fault.fix}`);
}
