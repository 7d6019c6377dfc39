import { Command } from 'commander';
import type { Cli } from './cli.js';
import { addAgents } from './commands/agents.js';
import { addAudit } from './commands/audit.js';
import { addBackup } from './commands/backup.js';
import { addBootstrap } from './commands/bootstrap.js';
import { addCodes } from './commands/codes.js';
import { addConfig } from './commands/config.js';
import { addDemo } from './commands/demo.js';
import { addDoctor } from './commands/doctor.js';
import { addExport } from './commands/export.js';
import { addImport } from './commands/import.js';
import { addInstall } from './commands/install.js';
import { addKeys } from './commands/keys.js';
import { addMembers } from './commands/members.js';
import { addMigrate } from './commands/migrate.js';
import { addOutbox } from './commands/outbox.js';
import { addRestore } from './commands/restore.js';
import { addSessions } from './commands/sessions.js';
import { addSupportBundle } from './commands/support-bundle.js';
import { addTenants } from './commands/tenants.js';
import { addUpgrade } from './commands/upgrade.js';
import { addCompletion } from '../data-plane-agent/base/command-line/completion/command.js';
import { configured } from '../data-plane-agent/base/command-line/run.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';

/** The program with all its commands. It throws instead of exiting the process. */
export function createProgram(cli: Cli, { json }: { json: boolean }): Command {
  const { io } = cli;
  const program = configured(
    new Command('duebook')
      .description('Installs and administers Duebook, the contract and receivables service.')
      .version(versionOf(import.meta.url)),
    { io, json },
  ).addHelpText(
    'after',
    '\nConfigured by the same environment variables as the server; "duebook config" shows them.\nExit codes: 0 done, 1 failed, 2 invalid arguments, 78 invalid configuration.',
  );
  for (const add of [
    addInstall,
    addMigrate,
    addBootstrap,
    addTenants,
    addMembers,
    addSessions,
    addOutbox,
    addCodes,
    addAgents,
    addKeys,
    addImport,
    addExport,
    addAudit,
    addBackup,
    addRestore,
    addUpgrade,
    addConfig,
    addDoctor,
    addSupportBundle,
    addDemo,
    addCompletion,
  ])
    add(program, cli);
  return program;
}
