import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import { CommandError } from '../../base/command-line/errors.js';
import { askPassphrase } from '../../host/backup/ask-passphrase.js';
import { restoreBackup, type Restored } from '../../host/backup/restore.js';
import { backupJson, backupText, missingText } from '../../host/backup/shown.js';
import { lookAtAgentConfiguration, type AddAgentCommand, type AgentCli } from '../agent-cli.js';
import { agentRestoreTarget } from '../backup.js';
import { refuseUnusableDatabase } from '../database-check.js';
import { lockDataDir } from '../process-lock.js';
import { toolsOf } from './backup.js';

interface Options {
  readonly force?: true;
  readonly yes?: true;
  readonly json?: true;
}

export const addRestore: AddAgentCommand = (program, cli) => {
  program
    .command('restore')
    .description(
      'Restores a backup of an agent into DATA_DIR while the agent is stopped. Everything is verified before anything is changed.',
    )
    .argument('<file>', 'the backup')
    .option('--force', 'replace the database of an agent that is not empty')
    .option('--yes', 'do not ask')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe passphrase is BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, else standard input.\nThe keys are restored if there are none; otherwise they must be those of the backup. An identity and a log of operations of the same agent that are there already are kept, because they are newer. After an interruption the agent refuses to start: run the same restore again.\nThe control plane notices that a restored identity is older than the last connection, and suspends it: "duebook-agent rejoin" with a new join token connects the agent again.',
    )
    .addHelpText('after', examples('duebook-agent restore agent-2026-11-23.tar < passphrase'))
    .action((file: string, options: Options) => restore(cli, file, options));
};

async function restore(cli: AgentCli, file: string, { force, yes, json }: Options): Promise<void> {
  const looked = lookAtAgentConfiguration(cli);
  const { values } = looked;
  await refuseUnusableDatabase(values);
  const passphrase = await askPassphrase(cli.io, { setting: values.backupPassphrase, isNew: false });
  if (force && !yes && cli.io.interactive) {
    const answer = await cli.io.ask('Replace everything in the database of this agent? (y/N) ');
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('NOT_CONFIRMED', 'nothing was changed');
  }
  const lock = lockDataDir(values.dataDir);
  const target = agentRestoreTarget(looked, cli);
  let restored: Restored;
  try {
    restored = await restoreBackup(file, target, {
      passphrase,
      force: force === true,
      tools: toolsOf(values, cli),
      onProgress: cli.io.progress,
    });
  } finally {
    await target.objects.close();
    lock.release();
    cli.io.progress('');
  }
  const { manifest, files, keysWritten, missing } = restored;
  if (json) return cli.io.data(jsonText({ ...backupJson(manifest), restoredFiles: files, keysWritten, missing }));
  cli.io.data(`restored\n${backupText(manifest)}`);
  if (keysWritten) cli.io.message('The keys were stored in DATA_DIR/secret-keys.');
  const note = missingText(missing, 'the object store: restore them from its backup or versions');
  if (note !== undefined) cli.io.message(`Warning: ${note}`);
  cli.io.message(
    'Next: duebook-agent doctor, then duebook-agent run. If the control plane suspends the connection, run "duebook-agent rejoin" with a new join token.',
  );
}
