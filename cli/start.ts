import { systemClock } from '../data-plane-agent/base/clock.js';
import { loadDotEnv } from '../data-plane-agent/base/config.js';
import { createIo } from './io.js';
import { run } from './run.js';

/** One command line in a process: its words in, the exit code out. */
export async function start(process: NodeJS.Process): Promise<void> {
  // Who reads may stop before the end (`| head`). That is no failure, and the work is still brought to its end.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  });

  process.exitCode = await run(process.argv.slice(2), {
    io: createIo(process),
    clock: systemClock,
    env: () => loadDotEnv('.env', process.env),
    nodeVersion: process.versions.node,
    process,
  });
}
