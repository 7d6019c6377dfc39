import { CONFIG_EXIT_CODE, ConfigurationError } from '../data-plane-agent/base/config.js';
import { listenFaultOf } from '../data-plane-agent/base/http/listen-fault.js';
import type { Log } from '../data-plane-agent/base/log.js';
import type { Config } from './config.js';
import { DatabaseUnreachable, urlSetting } from './database-check.js';

interface Failing {
  readonly process: Pick<NodeJS.Process, 'stderr' | 'exitCode'>;
  /** Undefined if the settings have faults. */
  readonly config: Pick<Config, 'host' | 'port'> | undefined;
  readonly log: Log;
}

/** Says why the server cannot start, and sets the exit code. */
export function reportFailure(error: unknown, { process, config, log }: Failing): void {
  if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
  else logFailure(error, { config, log });
  process.exitCode = error instanceof ConfigurationError ? CONFIG_EXIT_CODE : 1;
}

/** Logs one line for each database that cannot be connected to, without a stack, which does not help an operator. */
function logFailure(error: unknown, { config, log }: Pick<Failing, 'config' | 'log'>): void {
  if (error instanceof DatabaseUnreachable) {
    for (const { database, problem, fix } of error.faults)
      log.fatal({ setting: urlSetting(database), fix }, `cannot start: ${urlSetting(database)}: ${problem}`);
    return;
  }
  const fault = config && listenFaultOf(error, config);
  log.fatal({ err: error }, fault ? `cannot start: ${fault.problem}; ${fault.fix}` : 'cannot start');
}
