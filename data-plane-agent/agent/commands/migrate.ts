import { existsSync } from 'node:fs';
import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import type { Database } from '../../base/database/database.js';
import type { ManagedDatabase } from '../../base/database/managed.js';
import { migrate, migrationState, type MigrationState } from '../../base/database/migrator.js';
import { openDatabase, sqlitePath } from '../../base/database/open.js';
import { planeDatabase } from '../../host/plane-database.js';
import { agentConfiguration, type AddAgentCommand } from '../agent-cli.js';
import type { AgentConfig } from '../config.js';
import { refuseUnusableDatabase } from '../database-check.js';

export const addMigrate: AddAgentCommand = (program, cli) => {
  program
    .command('migrate')
    .description('Brings the database up to date, as "run" does at its start. Safe when several run at once.')
    .option('--status', 'show which migrations are applied and which are pending; change nothing')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook-agent migrate', 'duebook-agent migrate --status'))
    .action(async ({ status, json }: { readonly status?: true; readonly json?: true }) => {
      const config = agentConfiguration(cli, { quiet: json === true });
      await refuseUnusableDatabase(config);
      const managed = planeDatabase(config);
      if (status) {
        const { applied, pending } = await migrationStateOf(managed, config);
        if (json) return cli.io.data(jsonText({ databases: [{ name: managed.name, applied, pending }] }));
        return cli.io.data(
          `${managed.name}: ${applied.length} applied, ${pending.length === 0 ? 'none pending' : `pending ${pending.join(', ')}`}`,
        );
      }
      const applied = await withDatabase(managed, config, (database) =>
        migrate(database, managed.migrations, ({ heldBy, waitedMs }) =>
          json
            ? undefined
            : cli.io.message(
                `${managed.name}: another program is migrating (${heldBy}); waiting since ${Math.round(waitedMs / 1_000)} s`,
              ),
        ),
      );
      if (json) return cli.io.data(jsonText({ databases: [{ name: managed.name, applied, pending: [] }] }));
      cli.io.data(
        applied.length === 0 ? `${managed.name}: up to date` : `${managed.name}: applied ${applied.join(', ')}`,
      );
    });
};

type Pool = Pick<AgentConfig, 'databasePoolMax'>;

export async function withDatabase<T>(
  { url }: ManagedDatabase,
  { databasePoolMax }: Pool,
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
export async function migrationStateOf(managed: ManagedDatabase, pool: Pool): Promise<MigrationState> {
  const file = sqlitePath(managed.url);
  if (file !== undefined && !existsSync(file)) return { applied: [], pending: managed.migrations.map(({ id }) => id) };
  return withDatabase(managed, pool, (database) => migrationState(database, managed.migrations));
}
