import type { Clock } from '../../data-plane-agent/base/clock.js';
import { describeConfig } from '../../data-plane-agent/base/config.js';
import { databaseChecks as checksOf } from '../../data-plane-agent/host/doctor/database.js';
import { SETTINGS } from '../../server/config.js';
import { databaseFaults, urlSetting, type DatabaseFault } from '../../server/database-check.js';
import { databasesOf } from '../../server/databases.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/**
 * For each database: whether it can be connected to, differs from the other database and has a known schema, and for
 * PostgreSQL also its clock and the privileges of its role.
 */
export async function databaseChecks(looked: LookedAt, { clock }: { readonly clock: Clock }): Promise<Check[]> {
  const databases = Object.values(databasesOf(looked.values));
  const faults = await databaseFaults(databases);
  const shown = describeConfig(SETTINGS, looked);
  const checks: Check[] = [];
  for (const managed of databases) {
    const fault = faults.find(({ database }) => database === managed.name);
    const variable = urlSetting(managed.name);
    checks.push(
      ...(fault
        ? [faultCheck(fault)]
        : await checksOf({
            managed,
            variable,
            address: shown.find(({ name }) => name === variable)?.value ?? '',
            poolMax: looked.values.databasePoolMax,
            howToMigrate: 'run "duebook migrate"',
            program: 'server',
            clock,
          })),
    );
  }
  return checks;
}

const faultCheck = ({ database, kind, problem, fix }: DatabaseFault): Check =>
  check.fail(`${database}_database`, kind === 'shared' ? `${urlSetting(database)} ${problem}` : problem, fix);
