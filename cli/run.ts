import { CommanderError } from 'commander';
import { CONFIG_EXIT_CODE, ConfigurationError, reportFaults } from '../data-plane-agent/base/config.js';
import { isDatabaseError } from '../data-plane-agent/base/database/errors.js';
import { SchemaMismatch } from '../data-plane-agent/base/database/migrator.js';
import { isFailure } from '../data-plane-agent/base/failures.js';
import { SealError } from '../data-plane-agent/base/secrets.js';
import { jsonText, type Cli } from './cli.js';
import { CommandError, EXIT } from './errors.js';
import { createProgram } from './program.js';

/**
 * Runs one command line (without the program's name) and returns the exit code: 0 done, 1 failed, 2 invalid arguments,
 * 78 invalid configuration.
 */
export async function run(args: readonly string[], cli: Cli): Promise<number> {
  const json = args.includes('--json');
  try {
    await createProgram(cli, { json }).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { code, message, exitCode, details } = ending(error);
    cli.io.progress('');
    if (json) cli.io.message(jsonText({ error: { code, message, ...details } }));
    else if (message !== '') cli.io.message(exitCode === CONFIG_EXIT_CODE ? message : `duebook: ${message}`);
    return exitCode;
  }
}

interface Ending {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

function ending(error: unknown): Ending {
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
  return { ...failureOf(error), exitCode: EXIT.failed };
}

function failureOf(error: unknown): Pick<Ending, 'code' | 'message'> {
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
      message: `${error.message}${causeText(error)}; run "duebook doctor" for details`,
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
