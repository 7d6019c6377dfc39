import type { Waiting } from '../../data-plane-agent/base/database/database.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { refuseUnusableDatabases } from '../../server/database-check.js';
import { databasesOf } from '../../server/databases.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { misuse } from '../errors.js';
import { configuration, stateOf, withDatabase } from '../installation.js';

interface Options {
  readonly status?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export const addMigrate: AddCommand = (program, cli) => {
  program
    .command('migrate')
    .description('Brings the databases up to date. Safe when several run at once: one migrates, the others wait.')
    .option('--status', 'show which migrations are applied and which are pending; change nothing')
    .option('--dry-run', 'show which migrations would be applied; change nothing')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook migrate', 'duebook migrate --status'))
    .action((options: Options) => migrateDatabases(cli, options));
};

/** The migrations of one database. `applied`: by this run, or with `--status` and `--dry-run` before it. */
interface Steps {
  readonly name: string;
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

async function migrateDatabases(cli: Cli, { status, dryRun, json }: Options): Promise<void> {
  if (status && dryRun) throw misuse('--status and --dry-run cannot be combined');
  const config = await configuration(cli, { quiet: json === true });
  await refuseUnusableDatabases(Object.values(databasesOf(config)));
  const databases: Steps[] = [];
  const waiting = (name: string): Waiting | undefined =>
    json
      ? undefined
      : ({ heldBy, waitedMs }) =>
          cli.io.message(
            `${name}: another program is migrating (${heldBy}); waiting since ${Math.round(waitedMs / 1_000)} s`,
          );
  for (const managed of Object.values(databasesOf(config))) {
    if (status || dryRun) databases.push({ name: managed.name, ...(await stateOf(managed, config)) });
    else
      databases.push({
        name: managed.name,
        applied: await withDatabase(managed, config, (database) =>
          migrate(database, managed.migrations, waiting(managed.name)),
        ),
        pending: [],
      });
  }
  cli.io.data(
    json
      ? jsonText({ databases })
      : databases.map((steps) => line(steps, status ? 'status' : dryRun ? 'dry run' : 'done')).join('\n'),
  );
}

function line({ name, applied, pending }: Steps, mode: 'status' | 'dry run' | 'done'): string {
  if (mode === 'done') return applied.length === 0 ? `${name}: up to date` : `${name}: applied ${applied.join(', ')}`;
  if (mode === 'dry run')
    return pending.length === 0 ? `${name}: nothing to apply` : `${name}: would apply ${pending.join(', ')}`;
  return `${name}: ${applied.length} applied, ${pending.length === 0 ? 'none pending' : `pending ${pending.join(', ')}`}`;
}
