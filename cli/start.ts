import { runOn } from '../data-plane-agent/base/command-line/process.js';
import { run } from './run.js';

/** Runs the command line of the process and sets its exit code. */
export const start = (process: NodeJS.Process): Promise<void> =>
  runOn(process, (args, environment) => run(args, { ...environment, server: () => import('./server-parts.js') }));
