import { Command } from 'commander';
import type { AddCommand, Cli } from './cli.js';
import { addCompletion } from '../data-plane-agent/base/command-line/completion/command.js';
import { configured } from '../data-plane-agent/base/command-line/run.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';

/** By name, in the order of the help. Each loads a few hundred modules, so that those of the others are left. */
const COMMANDS: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['install', async () => (await import('./commands/install.js')).addInstall],
  ['migrate', async () => (await import('./commands/migrate.js')).addMigrate],
  ['bootstrap', async () => (await import('./commands/bootstrap.js')).addBootstrap],
  ['tenants', async () => (await import('./commands/tenants.js')).addTenants],
  ['members', async () => (await import('./commands/members.js')).addMembers],
  ['sessions', async () => (await import('./commands/sessions.js')).addSessions],
  ['outbox', async () => (await import('./commands/outbox.js')).addOutbox],
  ['codes', async () => (await import('./commands/codes.js')).addCodes],
  ['agents', async () => (await import('./commands/agents.js')).addAgents],
  ['keys', async () => (await import('./commands/keys.js')).addKeys],
  ['import', async () => (await import('./commands/import.js')).addImport],
  ['export', async () => (await import('./commands/export.js')).addExport],
  ['audit', async () => (await import('./commands/audit.js')).addAudit],
  ['backup', async () => (await import('./commands/backup.js')).addBackup],
  ['restore', async () => (await import('./commands/restore.js')).addRestore],
  ['upgrade', async () => (await import('./commands/upgrade.js')).addUpgrade],
  ['config', async () => (await import('./commands/config.js')).addConfig],
  ['doctor', async () => (await import('./commands/doctor.js')).addDoctor],
  ['support-bundle', async () => (await import('./commands/support-bundle.js')).addSupportBundle],
  ['demo', async () => (await import('./commands/demo.js')).addDemo],
]);

/**
 * The program with the named command, or with all of them: the help and the completion list all. It throws instead of
 * exiting the process.
 */
export async function createProgram(
  cli: Cli,
  { json, command = '' }: { readonly json: boolean; readonly command?: string | undefined },
): Promise<Command> {
  const program = configured(
    new Command('duebook')
      .description('Installs and administers Duebook, the contract and receivables service.')
      .version(versionOf(import.meta.url)),
    { io: cli.io, json },
  ).addHelpText(
    'after',
    '\nConfigured by the same environment variables as the server; "duebook config" shows them.\nExit codes: 0 done, 1 failed, 2 invalid arguments, 78 invalid configuration.',
  );
  const one = COMMANDS.get(command);
  for (const add of await Promise.all([...(one ? [one] : COMMANDS.values())].map((load) => load()))) add(program, cli);
  if (!one) addCompletion(program, cli);
  return program;
}
