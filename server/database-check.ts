import { existsSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { ConfigurationError, type Fault } from '../data-plane-agent/base/config.js';
import type { ManagedDatabase } from '../data-plane-agent/base/database/managed.js';
import { sqlitePath } from '../data-plane-agent/base/database/open.js';
import { connectionFault, createDatabaseCommand } from '../data-plane-agent/base/database/postgres-faults.js';
import {
  postgresIdentity,
  postgresTarget,
  type PostgresIdentity,
} from '../data-plane-agent/base/database/postgres-identity.js';

/** Why a database cannot be used, and what to do. `shared`: both settings name the same database. */
export interface DatabaseFault {
  readonly database: ManagedDatabase['name'];
  readonly kind: 'unreachable' | 'shared';
  readonly problem: string;
  readonly fix: string;
}

/** PostgreSQL databases that cannot be connected to; the message has one line for each. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
  readonly code = 'DATABASE_UNREACHABLE';

  constructor(readonly faults: readonly DatabaseFault[]) {
    super(faults.map(({ database, problem, fix }) => `${urlSetting(database)}: ${problem}; ${fix}`).join('\n'));
  }
}

/** The setting that has the URL of a database. */
export const urlSetting = (name: ManagedDatabase['name']): string => `${name.toUpperCase()}_DATABASE_URL`;

/**
 * Connects to each PostgreSQL database, and checks that the URLs name different databases. Writes nothing. SQLite files
 * are only compared; their other faults are reported when they are opened.
 */
export async function databaseFaults(databases: readonly ManagedDatabase[]): Promise<DatabaseFault[]> {
  const found = await Promise.all(databases.map(identify));
  const faults = found.flatMap((one) => ('problem' in one ? [one] : []));
  const [first, second] = found.flatMap((one) => ('problem' in one ? [] : [one]));
  return first && second && first.id === second.id ? [...faults, sharedFault(first, second)] : faults;
}

/** Throws DatabaseUnreachable, or ConfigurationError if both settings name the same database. */
export async function refuseUnusableDatabases(databases: readonly ManagedDatabase[]): Promise<void> {
  const faults = await databaseFaults(databases);
  const shared = faults.filter(({ kind }) => kind === 'shared');
  if (shared.length > 0)
    throw new ConfigurationError(
      shared.map(({ database, problem, fix }): Fault => ({
        name: urlSetting(database),
        problem: `${problem}; ${fix}`,
      })),
    );
  if (faults.length > 0) throw new DatabaseUnreachable(faults);
}

interface Identified {
  readonly managed: ManagedDatabase;
  readonly id: string;
  /** Undefined for SQLite. */
  readonly postgres: PostgresIdentity | undefined;
}

async function identify(managed: ManagedDatabase): Promise<Identified | DatabaseFault> {
  const { name, url } = managed;
  const file = sqlitePath(url);
  if (file !== undefined) return { managed, id: fileId(file), postgres: undefined };
  try {
    const postgres = await postgresIdentity(url);
    return { managed, id: postgres.id, postgres };
  } catch (error) {
    const { problem, fix } = connectionFault(error, { url, name: urlSetting(name) });
    return { database: name, kind: 'unreachable', problem, fix };
  }
}

/** The same for all paths of one file, including links. */
function fileId(path: string): string {
  if (!existsSync(path)) return resolve(path);
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function sharedFault(first: Identified, { managed: { name, url }, postgres }: Identified): DatabaseFault {
  const others = urlSetting(first.managed.name);
  const fault = { database: name, kind: 'shared' } as const;
  if (!postgres)
    return {
      ...fault,
      problem: `names the same SQLite file as ${others}: each needs a file of its own`,
      fix: `set ${urlSetting(name)} to another path, such as ${besideIt(sqlitePath(url) ?? '')}; the file is created at the start`,
    };
  const { database, role, createsDatabases } = postgres;
  const fresh = `${database}_contracts`;
  const command = createDatabaseCommand(postgresTarget(url), {
    as: createsDatabases ? role : 'postgres',
    owner: role,
    database: fresh,
  });
  return {
    ...fault,
    problem: `names the same PostgreSQL database as ${others} (${database}): each needs a database of its own`,
    fix: `create a second one with: ${command} ; then put ${fresh} in place of ${database} in ${urlSetting(name)}`,
  };
}

/** A path for a second SQLite file, in the folder of the first. */
const besideIt = (file: string): string =>
  `sqlite:${file.slice(0, -basename(file).length)}${basename(file) === 'tenant.db' ? 'contracts.db' : 'tenant.db'}`;
