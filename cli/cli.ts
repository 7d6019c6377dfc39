import type { Command } from 'commander';
import type { Clock } from '../data-plane-agent/base/clock.js';
import type { ProcessLike } from '../data-plane-agent/base/lifecycle.js';
import type { Io } from './io.js';

/** What commands are handed of the world. */
export interface Cli {
  readonly io: Io;
  readonly clock: Clock;
  /** The environment with what a `.env` adds to it, as the server reads it. Throws when the `.env` cannot be read. */
  readonly env: () => NodeJS.ProcessEnv;
  /** `24.21.0` */
  readonly nodeVersion: string;
  /** For the one command that stays: its signals. */
  readonly process: ProcessLike;
}

/** Adds a command to the program. What its action throws becomes the exit code. */
export type AddCommand = (program: Command, cli: Cli) => void;

/** The option that every command has. */
export const JSON_OPTION = ['--json', 'answer in JSON, for scripts'] as const;

/** Examples under a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;

/** One JSON value as it is printed. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
