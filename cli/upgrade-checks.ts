import { existsSync, statSync } from 'node:fs';
import { check, reasonOf, type Check } from '../data-plane-agent/base/command-line/check.js';
import { diskCheck, freeBytesAt } from '../data-plane-agent/base/command-line/disk.js';
import { contractingIn } from '../data-plane-agent/base/database/expand-contract.js';
import { SchemaMismatch } from '../data-plane-agent/base/database/migrator.js';
import { sqlitePath } from '../data-plane-agent/base/database/open.js';
import { iso } from '../data-plane-agent/base/instants.js';
import { PROTOCOLS } from '../data-plane-agent/base/link/limits.js';
import { sizeText } from '../data-plane-agent/host/backup/shown.js';
import { createBackupRecord } from '../server/audit/backups.js';
import { databaseFaults } from '../server/database-check.js';
import { databasesOf, type ManagedDatabase } from '../server/databases.js';
import { agentsOverview } from '../server/tenants/agents-overview.js';
import type { Cli } from './cli.js';
import { stateOf, withDatabase, type LookedAt } from './installation.js';

/** Whether this program may be started on the present databases. */
export interface UpgradeState {
  readonly checks: readonly Check[];
  /** The migrations that the start would apply, by database. */
  readonly pending: Readonly<Record<string, readonly string[]>>;
}

/** A backup that is older than this does not contain the last working day. */
const BACKUP_MAX_MS = 24 * 3_600_000;
/** Agents that are looked at; those with the oldest protocol come first. */
const MOST_AGENTS = 1_000;

/** Looks at everything that an upgrade depends on. Changes nothing. */
export async function upgradeState({ values }: LookedAt, { clock }: Pick<Cli, 'clock'>): Promise<UpgradeState> {
  const managed = Object.values(databasesOf(values));
  const faults = await databaseFaults(managed);
  const checks: Check[] = [];
  const pending: Record<string, readonly string[]> = {};
  for (const database of managed) {
    const name = `${database.name}_schema`;
    const fault = faults.find((one) => one.database === database.name);
    if (fault) checks.push(check.fail(name, fault.problem, fault.fix));
    else {
      const found = await schemaCheck(database, values);
      checks.push(found.check);
      if (found.pending) pending[database.name] = found.pending;
    }
  }
  checks.push(besideCheck(managed, pending));
  for (const database of managed) checks.push(...diskChecks(database));
  checks.push(diskCheck(values));
  const platform = databasesOf(values).platform;
  const isThere = isPresent(platform) && pending['platform'] !== undefined && isMigrated(platform, pending['platform']);
  checks.push(
    ...(isThere
      ? await withDatabase(platform, values, async (database) => [
          backupCheck(await createBackupRecord({ database }).lastMadeAt(), {
            now: clock.now(),
            changes: Object.values(pending).some((ids) => ids.length > 0),
          }),
          ...(pending['platform']?.includes(LINKS)
            ? []
            : [agentsCheck(await agentsOverview({ database }, MOST_AGENTS))]),
        ])
      : [check.ok('backup', 'there is nothing to back up yet')]),
  );
  return { checks, pending };
}

/** The migration that added what agents report. */
const LINKS = '0017-links';

const isPresent = ({ url }: ManagedDatabase): boolean => {
  const file = sqlitePath(url);
  return file === undefined || existsSync(file);
};

/** A database without any migration has no tables. */
const isMigrated = ({ migrations }: ManagedDatabase, pending: readonly string[]): boolean =>
  pending.length < migrations.length;

async function schemaCheck(
  database: ManagedDatabase,
  config: LookedAt['values'],
): Promise<{ readonly check: Check; readonly pending?: readonly string[] }> {
  const name = `${database.name}_schema`;
  try {
    const { applied, pending } = await stateOf(database, config);
    const at = applied.at(-1) ?? 'empty';
    const detail =
      pending.length === 0 ? `${at}, up to date` : `${at}; ${pending.length} pending: ${pending.join(', ')}`;
    return { check: check.ok(name, detail), pending };
  } catch (error) {
    if (error instanceof SchemaMismatch)
      return { check: check.fail(name, error.message, 'do not start this version on this database') };
    return {
      check: check.fail(name, `cannot be read (${reasonOf(error)})`, 'run "duebook doctor" for details'),
    };
  }
}

/** Whether replicas of the previous release can go on running while this one is started. */
function besideCheck(managed: readonly ManagedDatabase[], pending: UpgradeState['pending']): Check {
  const contracting = managed.flatMap(({ name, migrations }) =>
    migrations
      .filter(({ id }) => pending[name]?.includes(id))
      .flatMap((migration) => contractingIn(migration).map(({ why }) => `${name} ${migration.id}: ${why}`)),
  );
  return contracting.length === 0
    ? check.ok('previous_release', 'can run beside the new schema: replicas can be replaced one after the other')
    : check.warn(
        'previous_release',
        `cannot run beside the new schema (${contracting.join('; ')})`,
        'stop all replicas of the previous release before the first new one is started',
      );
}

/** A migration may rewrite the largest table, and SQLite needs as much space again for its log. */
function diskChecks({ name, url }: ManagedDatabase): Check[] {
  const file = sqlitePath(url);
  if (file === undefined || !existsSync(file)) return [];
  const { size } = statSync(file);
  const free = freeBytesAt(file);
  const title = `${name}_disk`;
  const detail = `${sizeText(free)} free for a database of ${sizeText(size)}`;
  return [
    free < size
      ? check.fail(title, detail, `free space on the disk of ${file}: a migration can need as much again`)
      : check.ok(title, detail),
  ];
}

function backupCheck(
  madeAt: number | undefined,
  { now, changes }: { readonly now: number; readonly changes: boolean },
): Check {
  const fix = 'make one before the upgrade: duebook backup FILE';
  if (madeAt === undefined)
    return changes
      ? check.warn('backup', 'no backup by "duebook backup" is recorded', fix)
      : check.ok('backup', 'no backup by "duebook backup" is recorded; nothing is to be migrated');
  const detail = `the newest recorded one is of ${iso(madeAt)}`;
  return changes && now - madeAt > BACKUP_MAX_MS ? check.warn('backup', detail, fix) : check.ok('backup', detail);
}

function agentsCheck(agents: Awaited<ReturnType<typeof agentsOverview>>): Check {
  const [oldest] = agents;
  if (!oldest) return check.ok('agents', 'none has joined');
  const nameOf = ({ slug, agentVersion, protocolVersion }: typeof oldest): string =>
    `${slug} (version ${agentVersion ?? 'unknown'}, protocol ${protocolVersion ?? 'unknown'})`;
  const refused = agents.filter(
    ({ protocolVersion: version }) => version !== null && (version < PROTOCOLS.min || version > PROTOCOLS.max),
  );
  return refused.length > 0
    ? check.fail(
        'agents',
        `this version cannot talk to ${refused.slice(0, 10).map(nameOf).join(', ')}: it needs protocol ${PROTOCOLS.min} to ${PROTOCOLS.max}`,
        'upgrade these agents first',
      )
    : check.ok(
        'agents',
        `${agents.length} joined, the oldest is ${nameOf(oldest)}; this version talks protocol ${PROTOCOLS.min} to ${PROTOCOLS.max}`,
      );
}
