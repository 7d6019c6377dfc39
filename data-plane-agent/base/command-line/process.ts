import { systemClock, type Clock } from '../clock.js';
import { loadDotEnv } from '../config.js';
import type { ProcessLike } from '../lifecycle.js';
import { createIo, type Io } from './io.js';

/** What every command runs with. */
export interface CommandEnvironment {
  readonly io: Io;
  readonly clock: Clock;
  /** The environment variables with those of a `.env` file added. Throws when the `.env` file cannot be read. */
  readonly env: () => NodeJS.ProcessEnv;
  /** `24.21.0` */
  readonly nodeVersion: string;
  /** Signals, for commands that keep running. */
  readonly process: ProcessLike;
}

/**
 * Runs a command with the environment of the process, and sets its exit code: 1 as well if its output could not be
 * written, as on a full disk. That the reader of the output ends earlier (`| head`) is no error, and the command runs to
 * its end.
 */
export async function runOn(
  process: NodeJS.Process,
  command: (args: readonly string[], environment: CommandEnvironment) => Promise<number>,
): Promise<void> {
  let isLost = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isLost || error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
    process.stderr.write(`The output could not be written: ${error.message}\n`);
    isLost = true;
    process.exitCode = 1;
  });
  // Nobody can be told of a message that could not be written.
  process.stderr.on('error', () => undefined);
  const code = await command(process.argv.slice(2), {
    io: createIo(process),
    clock: systemClock,
    env: () => loadDotEnv('.env', process.env),
    nodeVersion: process.versions.node,
    process,
  });
  process.exitCode = isLost ? code || 1 : code;
}
