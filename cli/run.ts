import { runCommand } from '../data-plane-agent/base/command-line/run.js';
import type { Cli } from './cli.js';
import { createProgram } from './program.js';

/**
 * Runs one command line (without the program's name) and returns the exit code: 0 done, 1 failed, 2 invalid arguments,
 * 78 invalid configuration.
 */
export const run = (args: readonly string[], cli: Cli): Promise<number> =>
  runCommand(args, { name: 'duebook', io: cli.io, create: (how) => createProgram(cli, { ...how, command: args[0] }) });
