import { runOn } from '../base/command-line/process.js';
import { systemClock } from '../base/clock.js';
import { loadDotEnv } from '../base/config.js';
import { runAgentCommand } from './program.js';

/** Runs the command line of the process and sets its exit code. */
export async function start(process: NodeJS.Process): Promise<void> {
  await runOn(process, (io) =>
    runAgentCommand(process.argv.slice(2), {
      io,
      clock: systemClock,
      env: () => loadDotEnv('.env', process.env),
      nodeVersion: process.versions.node,
      process,
      residentBytes: () => process.memoryUsage.rss(),
    }),
  );
}
