import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import { check, reasonOf, type Check } from '../../base/command-line/check.js';
import type { Database } from '../../base/database/database.js';
import type { ManagedDatabase } from '../../base/database/managed.js';
import { migrationState, SchemaMismatch } from '../../base/database/migrator.js';
import { openDatabase, sqlitePath } from '../../base/database/open.js';

export interface ExaminedDatabase {
  readonly managed: ManagedDatabase;
  /** The setting that has its URL, and the URL without its password. */
  readonly variable: string;
  readonly address: string;
  readonly poolMax: number;
  /** How to migrate it, as the start of a sentence. */
  readonly howToMigrate: string;
  /** What creates an SQLite file besides that. */
  readonly program: 'server' | 'agent';
  readonly clock: Clock;
}

/** Timeout of one database. */
const TIMEOUT_MS = 5_000;

/**
 * Whether a database that can be connected to has a known schema, and for PostgreSQL also its clock and the privileges
 * of its role. Changes nothing.
 */
export async function databaseChecks(examined: ExaminedDatabase): Promise<Check[]> {
  const { managed, variable, address, poolMax, howToMigrate, program, clock } = examined;
  const name = `${managed.name}_database`;
  const file = sqlitePath(managed.url);
  if (file !== undefined && !existsSync(file))
    return [check.warn(name, `${address} does not exist yet`, `${howToMigrate}, or start the ${program}`)];
  const fix =
    file === undefined
      ? `check that the server of ${variable} runs, is reachable from here, and accepts this user and password`
      : `check that ${file} is an SQLite file that this user may read and write, or set ${variable}`;
  try {
    const database = await openDatabase(managed.url, { poolMax });
    try {
      if (!(await database.ping(TIMEOUT_MS))) return [check.fail(name, `${address} does not answer`, fix)];
      const schema = await schemaCheck(name, { ...examined, database });
      return database.dialect === 'postgres'
        ? [schema, ...(await postgresChecks(managed.name, database, clock))]
        : [schema];
    } finally {
      await database.close();
    }
  } catch (error) {
    return [check.fail(name, `${address} cannot be used (${reasonOf(error)})`, fix)];
  }
}

async function schemaCheck(
  name: string,
  { address, database, managed: { migrations }, howToMigrate }: ExaminedDatabase & { readonly database: Database },
): Promise<Check> {
  try {
    const { pending } = await migrationState(database, migrations);
    if (pending.length === 0) return check.ok(name, `${address}, up to date`);
    return check.warn(
      name,
      `${address}, ${pending.length} migration${pending.length === 1 ? '' : 's'} pending`,
      howToMigrate,
    );
  } catch (error) {
    if (error instanceof SchemaMismatch)
      return check.fail(
        name,
        `${address}: ${error.message}`,
        'run the version of the program that migrated it, or restore a backup',
      );
    throw error;
  }
}

/** Tokens and locks compare times of the server with times of the database. */
const MAX_SKEW_MS = 5_000;

async function postgresChecks(which: string, database: Database, clock: Clock): Promise<Check[]> {
  const row = await database.read({ tenantId: null }, (tx) =>
    tx.get(
      'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS at, CASE WHEN rolsuper OR rolbypassrls THEN 1 ELSE 0 END AS free, rolname AS role FROM pg_roles WHERE rolname = current_user',
    ),
  );
  const skewMs = Math.abs(Number(row?.['at'] ?? 0) - clock.now());
  const role = String(row?.['role'] ?? '');
  return [
    skewMs <= MAX_SKEW_MS
      ? check.ok(`${which}_clock`, 'agrees with the database')
      : check.warn(
          `${which}_clock`,
          `the database's clock differs by ${Math.round(skewMs / 1000)} s`,
          'synchronise the clocks of both machines (NTP)',
        ),
    Number(row?.['free'] ?? 0) === 0
      ? check.ok(`${which}_role`, `${role} is subject to row-level security`)
      : check.warn(
          `${which}_role`,
          `${role} is a superuser or may bypass row-level security`,
          'connect as a role that has NOSUPERUSER and NOBYPASSRLS',
        ),
  ];
}
