import { CommanderError, type Command } from 'commander';
import { CONFIG_EXIT_CODE, ConfigurationError, reportFaults } from '../config.js';
import { isDatabaseError } from '../database/errors.js';
import { SchemaMismatch } from '../database/migrator.js';
import { isFailure } from '../failures.js';
import { SealError } from '../secrets.js';
import { CommandError, EXIT } from './errors.js';
import { jsonText } from './help.js';
import type { Io } from './io.js';

/** A program of commands, as commander has it. */
export interface CommandLine {
  /** The name of the program, which begins its messages. */
  readonly name: string;
  readonly io: Io;
  create(how: { readonly json: boolean }): Command | Promise<Command>;
}

/**
 * Runs one command line (without the program's name) and returns the exit code: 0 done, 1 failed, 2 invalid arguments,
 * 78 invalid configuration.
 */
export async function runCommand(args: readonly string[], { name, io, create }: CommandLine): Promise<number> {
  const json = args.includes('--json');
  try {
    const program = await create({ json });
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { code, message, exitCode, details } = ending(error, name);
    io.progress('');
    if (json) io.message(jsonText({ error: { code, message, ...details } }));
    else if (message !== '') io.message(exitCode === CONFIG_EXIT_CODE ? message : `${name}: ${message}`);
    return exitCode;
  }
}

/** The settings of commander for our programs: they throw instead of exiting the process, and print through `io`. */
export const configured = (program: Command, { io, json }: { readonly io: Io; readonly json: boolean }): Command =>
  program
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.data(text.replace(/\n$/, '')),
      // With --json, standard error has only the error as JSON. Otherwise `runCommand` prints errors and this help.
      writeErr: (text) => (json ? undefined : io.message(text.replace(/\n$/, ''))),
      outputError: () => undefined,
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });

interface Ending {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

function ending(error: unknown, program: string): Ending {
  if (error instanceof ConfigurationError)
    return {
      code: 'CONFIG_INVALID',
      message: reportFaults(error.faults),
      exitCode: CONFIG_EXIT_CODE,
      details: { faults: error.faults },
    };
  if (error instanceof CommandError) return error;
  // Commander prints the help itself when no command is given.
  if (error instanceof CommanderError)
    return {
      code: 'USAGE',
      message: error.code === 'commander.help' ? 'no command given; see --help' : `${plain(error.message)}; see --help`,
      exitCode: EXIT.misused,
    };
  return { ...failureOf(error, program), exitCode: EXIT.failed };
}

function failureOf(error: unknown, program: string): Pick<Ending, 'code' | 'message'> {
  if (isFailure(error, 'INVALID_INPUT'))
    return {
      code: error.code,
      message: error.details.issues.map(({ path, problem }) => `${path} ${problem}`).join('; '),
    };
  if (isFailure(error, 'PASSWORD_TOO_WEAK'))
    return { code: error.code, message: `the password is too weak: ${error.details.reason}` };
  if (isFailure(error)) return { code: error.code, message: error.message };
  if (error instanceof SchemaMismatch) return { code: 'SCHEMA_MISMATCH', message: error.message };
  if (error instanceof SealError)
    return {
      code: error.code,
      message: `${error.message}; check that SECRET_KEYS has the keys that this installation was created with`,
    };
  if (isDatabaseError(error))
    return {
      code: `DATABASE_${error.problem.toUpperCase()}`,
      message: `${error.message}${causeText(error)}; run "${program} doctor" for details`,
    };
  if (error instanceof Error)
    return {
      code: 'code' in error && typeof error.code === 'string' ? error.code : 'UNEXPECTED',
      message: `${error.message}${causeText(error)}`,
    };
  return { code: 'UNEXPECTED', message: String(error) };
}

const causeText = ({ cause }: Error): string =>
  cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';

const plain = (message: string): string => message.replace(/^error: /, '');
