import { Command } from 'commander';
import { addCompletion } from '../base/command-line/completion/command.js';
import { configured, runCommand } from '../base/command-line/run.js';
import { versionOf } from '../base/package-version.js';
import type { AgentCli } from './agent-cli.js';
import { addAudit } from './commands/audit.js';
import { addBackup } from './commands/backup.js';
import { addConfig } from './commands/config.js';
import { addDoctor } from './commands/doctor.js';
import { addJoin, addRejoin, addRotateKey } from './commands/join.js';
import { addMigrate } from './commands/migrate.js';
import { addRestore } from './commands/restore.js';
import { addRun } from './commands/run.js';

/** Runs one command line (without the program's name) and returns the exit code. */
export const runAgentCommand = (args: readonly string[], cli: AgentCli): Promise<number> =>
  runCommand(args, { name: 'duebook-agent', io: cli.io, create: (how) => createAgentProgram(cli, how) });

/** The agent with all its commands. */
export function createAgentProgram(cli: AgentCli, { json }: { readonly json: boolean }): Command {
  const program = configured(
    new Command('duebook-agent')
      .description(
        'Keeps the contract data of an organisation in its own network, and answers the operations of the control plane.',
      )
      .version(versionOf(import.meta.url)),
    { io: cli.io, json },
  ).addHelpText(
    'after',
    '\nConfigured by environment variables; "duebook-agent config" shows them.\nExit codes: 0 done, 1 failed, 2 invalid arguments, 78 invalid configuration.',
  );
  for (const add of [
    addJoin,
    addRun,
    addDoctor,
    addAudit,
    addMigrate,
    addBackup,
    addRestore,
    addRotateKey,
    addRejoin,
    addConfig,
    addCompletion,
  ])
    add(program, cli);
  return program;
}
