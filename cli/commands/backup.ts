import { resolve } from 'node:path';
import type { Command } from 'commander';
import { createBackup, type MadeBackup } from '../../data-plane-agent/host/backup/create.js';
import { askPassphrase } from '../../data-plane-agent/host/backup/ask-passphrase.js';
import { interruptible } from '../../data-plane-agent/host/backup/interruptible.js';
import { backupJson, backupText, missingText, sizeText } from '../../data-plane-agent/host/backup/shown.js';
import { verifyBackup } from '../../data-plane-agent/host/backup/verify.js';
import { createBackupRecord } from '../../server/audit/backups.js';
import { refuseUnusableDatabases } from '../../server/database-check.js';
import { databasesOf } from '../../server/databases.js';
import type { Config } from '../../server/config.js';
import { sourceOf, toolsOf } from '../backup-parts.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { cliActor, configuration, lookAtConfiguration, withDatabase } from '../installation.js';

interface Json {
  readonly json?: true;
}

export const addBackup: AddCommand = (program, cli) => {
  const backup = program
    .command('backup')
    .description(
      'Writes the databases, the files and the keys to one new file, while the server runs. The keys in it are encrypted with a passphrase.',
    )
    .helpCommand(false)
    .argument('<file>', 'the file to write; it must not exist')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe passphrase, of at least 12 characters, is BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, else standard input. Without it nobody can restore the backup: keep it elsewhere.\nOnly the keys are encrypted: whoever has the file can read the contract data. PostgreSQL is copied with pg_dump (see PG_DUMP and BACKUP_TENANT_DATABASE_URL in docs/configuration.md). Files on an S3 server are listed and not copied.',
    )
    .addHelpText(
      'after',
      examples(
        'BACKUP_PASSPHRASE_FILE=/etc/duebook/backup-passphrase duebook backup duebook-2026-11-23.tar',
        'duebook backup verify duebook-2026-11-23.tar < passphrase',
      ),
    )
    .action((file: string, { json }: Json) => makeBackup(cli, file, { json: json === true }));
  addVerify(backup, cli);
};

const addVerify: AddCommand = (backup, cli) => {
  backup
    .command('verify')
    .description(
      'Reads a whole backup and checks every hash, the databases in it, and the passphrase. Changes nothing.',
    )
    .argument('<file>', 'the backup')
    .option('--temp <folder>', 'for the copies of the databases while they are checked; the default is TMPDIR')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when the backup is damaged, was altered, or has another passphrase.')
    .addHelpText('after', examples('duebook backup verify duebook-2026-11-23.tar < passphrase'))
    .action(async (file: string, { temp }: { readonly temp?: string }, command: Command) => {
      // The option belongs to both commands, and commander gives it to the first.
      const { json } = command.optsWithGlobals<Json>();
      const { values } = lookAtConfiguration(cli);
      const passphrase = await askPassphrase(cli.io, { setting: values.backupPassphrase, isNew: false });
      const { manifest } = await verifyBackup(file, {
        passphrase,
        tools: toolsOf(values, cli),
        tempFolder: temp,
        onProgress: cli.io.progress,
      });
      cli.io.progress('');
      cli.io.data(json ? jsonText({ ok: true, ...backupJson(manifest) }) : `ok\n${backupText(manifest)}`);
    });
};

async function makeBackup(cli: Cli, file: string, { json }: { readonly json: boolean }): Promise<void> {
  const config = await configuration(cli, { quiet: json });
  const passphrase = await askPassphrase(cli.io, { setting: config.backupPassphrase, isNew: true });
  await refuseUnusableDatabases(Object.values(databasesOf(config)));
  const source = sourceOf(config, cli);
  let made: MadeBackup;
  try {
    made = await interruptible(cli.process, (signal) =>
      createBackup(file, source, {
        passphrase,
        clock: cli.clock,
        tools: toolsOf(config, cli),
        signal,
        onProgress: cli.io.progress,
      }),
    );
  } finally {
    await source.store.objects.close();
    cli.io.progress('');
  }
  const { manifest, bytes, missing } = made;
  await recordBackup(cli, config, made);
  const note = missingText(missing, 'the store (they may have been deleted during the backup)');
  if (json) return cli.io.data(jsonText({ file: resolve(file), bytes, ...backupJson(manifest), missing }));
  cli.io.data(`${resolve(file)}: ${sizeText(bytes)}\n${backupText(manifest)}`);
  if (note !== undefined) cli.io.message(`Warning: ${note}`);
  cli.io.message(`Next: duebook backup verify ${file}; then copy the file to another machine.`);
}

/** The audit shows who made backups, and `upgrade check` how old the newest is. */
async function recordBackup(cli: Cli, config: Config, { manifest, bytes }: MadeBackup): Promise<void> {
  try {
    await withDatabase(databasesOf(config).platform, config, (database) =>
      createBackupRecord({ database }).made({ backupId: manifest.backupId, bytes, at: cli.clock.now() }, cliActor()),
    );
  } catch (error) {
    cli.io.message(
      `Warning: the backup is complete, but could not be recorded in the audit (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}
