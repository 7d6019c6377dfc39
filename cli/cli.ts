import type { Command } from 'commander';
import type { CommandEnvironment } from '../data-plane-agent/base/command-line/process.js';
import type * as ServerParts from './server-parts.js';

/** The environment that commands run in. */
export interface Cli extends CommandEnvironment {
  /** The server, for the commands that run it or its services: half of all modules, which the others do not load. */
  readonly server: () => Promise<typeof ServerParts>;
}

/** Adds a command to the program. An error that its action throws sets the exit code. */
export type AddCommand = (program: Command, cli: Cli) => void;

export { examples, JSON_OPTION, jsonText } from '../data-plane-agent/base/command-line/help.js';
