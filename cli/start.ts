import { systemClock } from '../data-plane-agent/base/clock.js';
import { loadDotEnv } from '../data-plane-agent/base/config.js';
import { runOn } from '../data-plane-agent/base/command-line/process.js';
import { run } from './run.js';

/** Runs the command line of the process and sets its exit code. */
export async function start(process: NodeJS.Process): Promise<void> {
  await runOn(process, (io) =>
    run(process.argv.slice(2), {
      io,
      clock: systemClock,
      env: () => loadDotEnv('.env', process.env),
      nodeVersion: process.versions.node,
      process,
      server: () => import('./server-parts.js'),
    }),
  );
}
