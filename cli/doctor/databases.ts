import { existsSync } from 'node:fs';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { describeConfig } from '../../data-plane-agent/base/config.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrationState, SchemaMismatch } from '../../data-plane-agent/base/database/migrator.js';
import { sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { SETTINGS } from '../../server/config.js';
import { databaseFaults, urlSetting, type DatabaseFault } from '../../server/database-check.js';
import { databasesOf, type ManagedDatabase } from '../../server/foundation.js';
import { withDatabase, type LookedAt } from '../installation.js';
import { check, reasonOf, type Check } from './check.js';

/**
 * For each database: whether it can be connected to, differs from the other database and has a known schema, and for
 * PostgreSQL also its clock and the privileges of its role.
 */
export async function databaseChecks(looked: LookedAt, { clock }: { readonly clock: Clock }): Promise<Check[]> {
  const databases = Object.values(databasesOf(looked.values));
  const faults = await databaseFaults(databases);
  const checks: Check[] = [];
  for (const managed of databases) {
    const fault = faults.find(({ database }) => database === managed.name);
    checks.push(...(fault ? [faultCheck(fault)] : await checksOf(managed, looked, clock)));
  }
  return checks;
}

const faultCheck = ({ database, kind, problem, fix }: DatabaseFault): Check =>
  check.fail(`${database}_database`, kind === 'shared' ? `${urlSetting(database)} ${problem}` : problem, fix);

/** Timeout of one database. */
const TIMEOUT_MS = 5_000;

async function checksOf(managed: ManagedDatabase, looked: LookedAt, clock: Clock): Promise<Check[]> {
  const name = `${managed.name}_database`;
  const variable = urlSetting(managed.name);
  const address = describeConfig(SETTINGS, looked).find((row) => row.name === variable)?.value ?? '';
  const file = sqlitePath(managed.url);
  if (file !== undefined && !existsSync(file))
    return [check.warn(name, `${address} does not exist yet`, 'run "duebook migrate", or start the server')];
  const fix =
    file === undefined
      ? `check that the server of ${variable} runs, is reachable from here, and accepts this user and password`
      : `check that ${file} is an SQLite file that this user may read and write, or set ${variable}`;
  try {
    return await withDatabase(managed, looked.values, async (database) => {
      if (!(await database.ping(TIMEOUT_MS))) return [check.fail(name, `${address} does not answer`, fix)];
      const schema = await schemaCheck(name, { address, database, managed });
      return database.dialect === 'postgres'
        ? [schema, ...(await postgresChecks(managed.name, database, clock))]
        : [schema];
    });
  } catch (error) {
    return [check.fail(name, `${address} cannot be used (${reasonOf(error)})`, fix)];
  }
}

async function schemaCheck(
  name: string,
  {
    address,
    database,
    managed: { migrations },
  }: { readonly address: string; readonly database: Database; readonly managed: ManagedDatabase },
): Promise<Check> {
  try {
    const { pending } = await migrationState(database, migrations);
    if (pending.length === 0) return check.ok(name, `${address}, up to date`);
    return check.warn(
      name,
      `${address}, ${pending.length} migration${pending.length === 1 ? '' : 's'} pending`,
      'run "duebook migrate"',
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
