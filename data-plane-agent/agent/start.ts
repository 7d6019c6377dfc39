import { runOn } from '../base/command-line/process.js';
import { runAgentCommand } from './program.js';

/** Runs the command line of the process and sets its exit code. */
export const start = (process: NodeJS.Process): Promise<void> =>
  runOn(process, (args, environment) =>
    runAgentCommand(args, { ...environment, residentBytes: () => process.memoryUsage.rss() }),
  );
