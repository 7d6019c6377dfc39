import type { Command } from 'commander';
import { createProgram } from '../../cli/program.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { createIo } from '../../data-plane-agent/base/command-line/io.js';

/** The program `duebook` with all its commands, to be looked at: none of them is run. */
export const wholeProgram = (): Promise<Command> =>
  createProgram(
    {
      io: createIo(process),
      clock: systemClock,
      env: () => ({}),
      nodeVersion: process.versions.node,
      process,
      server: () => Promise.reject(new Error('no command runs')),
    },
    { json: false },
  );
