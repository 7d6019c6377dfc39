import { systemClock } from '../data-plane-agent/base/clock.js';
import { loadDotEnv } from '../data-plane-agent/base/config.js';
import { createIo } from '../data-plane-agent/base/command-line/io.js';
import { run } from './run.js';

/** Runs the command line of the process and sets its exit code. */
export async function start(process: NodeJS.Process): Promise<void> {
  // The reader of a pipe may close it early (`| head`). That is not an error, and the command runs to its end.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  });

  process.exitCode = await run(process.argv.slice(2), {
    io: createIo(process),
    clock: systemClock,
    env: () => loadDotEnv('.env', process.env),
    nodeVersion: process.versions.node,
    process,
    server: () => import('./server-parts.js'),
  });
}
