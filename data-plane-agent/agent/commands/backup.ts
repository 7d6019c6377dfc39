import { resolve } from 'node:path';
import type { Command } from 'commander';
import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import { askPassphrase } from '../../host/backup/ask-passphrase.js';
import { createBackup, type MadeBackup } from '../../host/backup/create.js';
import { interruptible } from '../../host/backup/interruptible.js';
import { backupJson, backupText, missingText, sizeText } from '../../host/backup/shown.js';
import { verifyBackup } from '../../host/backup/verify.js';
import { agentConfiguration, lookAtAgentConfiguration, type AddAgentCommand, type AgentCli } from '../agent-cli.js';
import { agentBackupSource } from '../backup.js';
import type { AgentConfig } from '../config.js';
import { refuseUnusableDatabase } from '../database-check.js';

interface Json {
  readonly json?: true;
}

export const toolsOf = ({ pgDump }: Pick<AgentConfig, 'pgDump'>, { env }: AgentCli) => ({
  pgDump,
  path: env()['PATH'] ?? '',
});

export const addBackup: AddAgentCommand = (program, cli) => {
  const backup = program
    .command('backup')
    .description(
      'Writes the database, the files, the log of operations, the policy, the keys and the identity of this agent to one new file, while it runs. Keys and identity are encrypted with a passphrase.',
    )
    .helpCommand(false)
    .argument('<file>', 'the file to write; it must not exist')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe passphrase, of at least 12 characters, is BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, else standard input. Without it nobody can restore the backup: keep it elsewhere.\nOnly keys and identity are encrypted: whoever has the file can read the contract data.',
    )
    .addHelpText(
      'after',
      examples(
        'BACKUP_PASSPHRASE_FILE=/etc/duebook/backup-passphrase duebook-agent backup agent-2026-11-23.tar',
        'duebook-agent backup verify agent-2026-11-23.tar < passphrase',
      ),
    )
    .action((file: string, { json }: Json) => makeBackup(cli, file, { json: json === true }));
  addVerify(backup, cli);
};

const addVerify: AddAgentCommand = (backup, cli) => {
  backup
    .command('verify')
    .description('Reads a whole backup and checks every hash, the database in it, and the passphrase. Changes nothing.')
    .argument('<file>', 'the backup')
    .option('--temp <folder>', 'for the copy of the database while it is checked; the default is TMPDIR')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when the backup is damaged, was altered, or has another passphrase.')
    .addHelpText('after', examples('duebook-agent backup verify agent-2026-11-23.tar < passphrase'))
    .action(async (file: string, { temp }: { readonly temp?: string }, command: Command) => {
      // The option belongs to both commands, and commander gives it to the first.
      const { json } = command.optsWithGlobals<Json>();
      const { values } = lookAtAgentConfiguration(cli);
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

async function makeBackup(cli: AgentCli, file: string, { json }: { readonly json: boolean }): Promise<void> {
  const config = agentConfiguration(cli, { quiet: json });
  const passphrase = await askPassphrase(cli.io, { setting: config.backupPassphrase, isNew: true });
  await refuseUnusableDatabase(config);
  const source = agentBackupSource(config, cli);
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
  if (json) return cli.io.data(jsonText({ file: resolve(file), bytes, ...backupJson(manifest), missing }));
  cli.io.data(`${resolve(file)}: ${sizeText(bytes)}\n${backupText(manifest)}`);
  const note = missingText(missing, 'the store (they may have been deleted during the backup)');
  if (note !== undefined) cli.io.message(`Warning: ${note}`);
  cli.io.message(`Next: duebook-agent backup verify ${file}; then copy the file to another machine.`);
}
