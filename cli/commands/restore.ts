import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { askPassphrase } from '../../data-plane-agent/host/backup/ask-passphrase.js';
import { writeNewFile } from '../../data-plane-agent/host/backup/new-file.js';
import { restoreBackup, type Restored } from '../../data-plane-agent/host/backup/restore.js';
import { backupJson, backupText, missingText } from '../../data-plane-agent/host/backup/shown.js';
import { readBackup } from '../../data-plane-agent/host/backup/verify.js';
import { createBackupRecord } from '../../server/audit/backups.js';
import { refuseUnusableDatabases } from '../../server/database-check.js';
import { databasesOf } from '../../server/databases.js';
import { targetOf, toolsOf } from '../backup-parts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { confirm, YES_OPTION } from '../confirm.js';
import { CommandError, misuse } from '../errors.js';
import { cliActor, lookAtConfiguration, stateOf, withDatabase, type LookedAt } from '../installation.js';

interface Options {
  readonly force?: true;
  readonly migrate?: true;
  readonly keysOut?: string;
  readonly yes?: true;
  readonly json?: true;
}

export const addRestore: AddCommand = (program, cli) => {
  program
    .command('restore')
    .description(
      'Restores a backup into this installation while the server is stopped. Everything is verified before anything is changed.',
    )
    .argument('<file>', 'the backup')
    .option('--force', 'replace the databases of an installation that is not empty')
    .option('--migrate', 'bring the databases up to date afterwards, as "duebook migrate" does')
    .option(
      '--keys-out <file>',
      'only write the keys of the backup to a new file, for SECRET_KEYS_FILE; restore nothing',
    )
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe passphrase is BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, else standard input.\nThe keys are restored if the installation has none; otherwise they must be those of the backup. After an interruption the server refuses to start: run the same restore again.',
    )
    .addHelpText(
      'after',
      examples(
        'duebook restore duebook-2026-11-23.tar < passphrase',
        'duebook restore duebook-2026-11-23.tar --keys-out secret-keys < passphrase',
      ),
    )
    .action((file: string, options: Options) =>
      options.keysOut === undefined ? restore(cli, file, options) : writeKeys(cli, file, options),
    );
};

async function restore(cli: Cli, file: string, options: Options): Promise<void> {
  const looked = lookAtConfiguration(cli);
  const { values } = looked;
  const managed = Object.values(databasesOf(values));
  await refuseUnusableDatabases(managed);
  const passphrase = await askPassphrase(cli.io, { setting: values.backupPassphrase, isNew: false });
  if (options.force)
    await confirm(cli, 'Replace everything in the databases of this installation?', { yes: options.yes === true });
  const target = targetOf(looked, cli);
  let restored: Restored;
  try {
    restored = await restoreBackup(file, target, {
      passphrase,
      force: options.force === true,
      tools: toolsOf(values, cli),
      onProgress: cli.io.progress,
    });
  } finally {
    await target.objects.close();
    cli.io.progress('');
  }
  if (options.migrate)
    for (const one of managed) await withDatabase(one, values, (database) => migrate(database, one.migrations));
  const pending = [];
  for (const one of managed) pending.push(...(await stateOf(one, values)).pending.map((id) => `${one.name} ${id}`));
  if (pending.length === 0) await recordRestore(cli, looked, restored);
  report(cli, restored, { pending, json: options.json === true });
}

function report(
  cli: Cli,
  { manifest, files, keysWritten, missing }: Restored,
  { pending, json }: { readonly pending: readonly string[]; readonly json: boolean },
): void {
  if (json)
    return cli.io.data(
      jsonText({ ...backupJson(manifest), restoredFiles: files, keysWritten, missing, pendingMigrations: pending }),
    );
  cli.io.data(`restored\n${backupText(manifest)}`);
  if (keysWritten) cli.io.message('The keys were stored in DATA_DIR/secret-keys.');
  const note = missingText(missing, 'the object store: restore them from its backup or versions');
  if (note !== undefined) cli.io.message(`Warning: ${note}`);
  if (pending.length > 0)
    cli.io.message(
      `The backup is of an older version. Pending migrations: ${pending.join(', ')}. Next: duebook migrate`,
    );
  cli.io.message('Next: duebook doctor, then duebook audit verify, then start the server.');
}

async function recordRestore(cli: Cli, { values }: LookedAt, { manifest }: Restored): Promise<void> {
  const { backupId, startedAt } = manifest;
  await withDatabase(databasesOf(values).platform, values, (database) =>
    createBackupRecord({ database }).restored({ backupId, startedAt, at: cli.clock.now() }, cliActor()),
  );
}

/** For an installation whose keys are a setting: they must be set before anything can be restored. */
async function writeKeys(
  cli: Cli,
  file: string,
  { keysOut: out = '', force, migrate: also, json }: Options,
): Promise<void> {
  if (force || also) throw misuse('--keys-out restores nothing: it cannot be combined with --force or --migrate');
  // In production a configuration without keys is refused, and this is how an operator gets them back.
  const { NODE_ENV: _, ...env } = cli.env();
  const { values } = lookAtConfiguration({ ...cli, env: () => env });
  const passphrase = await askPassphrase(cli.io, { setting: values.backupPassphrase, isNew: false });
  const folder = await mkdtemp(join(tmpdir(), 'duebook-backup-'));
  try {
    const { secrets, manifest } = await readBackup(file, {
      passphrase,
      tools: toolsOf(values, cli),
      folder,
      placeOf: (name) => join(folder, name),
      onProgress: cli.io.progress,
    });
    cli.io.progress('');
    try {
      writeNewFile(resolve(out), `${secrets.secretKeys}\n`);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
        throw misuse(`--keys-out ${out} already exists`);
      throw new CommandError('KEYS_NOT_WRITTEN', `the keys cannot be written to ${out}`, { cause: error });
    }
    if (json) return cli.io.data(jsonText({ file: resolve(out), keyIds: manifest.keyIds }));
    cli.io.data(`${resolve(out)}: keys ${manifest.keyIds.join(', ')}`);
    cli.io.message(`Next: set SECRET_KEYS_FILE=${resolve(out)}, then duebook restore ${file}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
