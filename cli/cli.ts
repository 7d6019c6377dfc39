import type { Command } from 'commander';
import type { Clock } from '../data-plane-agent/base/clock.js';
import type { ProcessLike } from '../data-plane-agent/base/lifecycle.js';
import type * as ServerParts from './server-parts.js';
import type { Io } from '../data-plane-agent/base/command-line/io.js';

/** The environment that commands run in. */
export interface Cli {
  readonly io: Io;
  readonly clock: Clock;
  /**
   * The environment variables with those of a `.env` file added, as the server reads them. Throws when the `.env` file
   * cannot be read.
   */
  readonly env: () => NodeJS.ProcessEnv;
  /** `24.21.0` */
  readonly nodeVersion: string;
  /** Signals, for the command that keeps running (`demo`). */
  readonly process: ProcessLike;
  /** The server, for the commands that run it or its services: half of all modules, which the others do not load. */
  readonly server: () => Promise<typeof ServerParts>;
}

/** Adds a command to the program. An error that its action throws sets the exit code. */
export type AddCommand = (program: Command, cli: Cli) => void;

export { examples, JSON_OPTION, jsonText } from '../data-plane-agent/base/command-line/help.js';
