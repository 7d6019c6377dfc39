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
import { versionOf } from '../data-plane-agent/base/package-version.js';

/** The program with all its commands. It throws instead of exiting the process. */
export function createProgram(cli: Cli, { json }: { json: boolean }): Command {
  const { io } = cli;
  const program = new Command('duebook')
    .description('Installs and administers Duebook, the contract and receivables service.')
    .version(versionOf(import.meta.url))
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.data(text.replace(/\n$/, '')),
      // With --json, standard error has only the error as JSON. Otherwise `run` prints errors and this prints help.
      writeErr: (text) => (json ? undefined : io.message(text.replace(/\n$/, ''))),
      outputError: () => undefined,
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText(
      'after',
      '\nConfigured by the same environment variables as the server; "duebook config" shows them.\nExit codes: 0 done, 1 failed, 2 invalid arguments, 78 invalid configuration.',
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
