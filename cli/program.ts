import { Command } from 'commander';
import type { Cli } from './cli.js';
import { addAudit } from './commands/audit.js';
import { addBootstrap } from './commands/bootstrap.js';
import { addCodes } from './commands/codes.js';
import { addConfig } from './commands/config.js';
import { addDemo } from './commands/demo.js';
import { addDoctor } from './commands/doctor.js';
import { addExport } from './commands/export.js';
import { addImport } from './commands/import.js';
import { addKeys } from './commands/keys.js';
import { addMembers } from './commands/members.js';
import { addMigrate } from './commands/migrate.js';
import { addSessions } from './commands/sessions.js';
import { addTenants } from './commands/tenants.js';
import { versionOf } from './version.js';

/** The program with all its commands. Nothing in it exits: what ends it early is thrown. */
export function createProgram(cli: Cli, { json }: { json: boolean }): Command {
  const { io } = cli;
  const program = new Command('duebook')
    .description('Installs and tends Duebook, the contract and receivables service.')
    .version(versionOf(import.meta.url))
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.data(text.replace(/\n$/, '')),
      // With --json standard error carries the error as JSON and nothing else; without, `run` tells errors and here
      // comes help.
      writeErr: (text) => (json ? undefined : io.message(text.replace(/\n$/, ''))),
      outputError: () => undefined,
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText(
      'after',
      '\nThe same environment variables as the server\'s say what it works on; "duebook config" shows them.\nExit codes: 0 done, 1 failed, 2 misused, 78 badly configured.',
    );
  for (const add of [
    addMigrate,
    addBootstrap,
    addTenants,
    addMembers,
    addSessions,
    addCodes,
    addKeys,
    addImport,
    addExport,
    addAudit,
    addConfig,
    addDoctor,
    addDemo,
  ])
    add(program, cli);
  return program;
}
