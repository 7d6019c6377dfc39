import type { Command } from 'commander';
import type { Clock } from '../data-plane-agent/base/clock.js';
import type { ProcessLike } from '../data-plane-agent/base/lifecycle.js';
import type { Io } from './io.js';

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
}

/** Adds a command to the program. An error that its action throws sets the exit code. */
export type AddCommand = (program: Command, cli: Cli) => void;

/** The option that every command has. */
export const JSON_OPTION = ['--json', 'answer in JSON, for scripts'] as const;

/** Examples under a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;

/** Formats a JSON value for output. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
