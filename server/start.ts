import { systemClock } from '../data-plane-agent/base/clock.js';
import { CONFIG_EXIT_CODE, ConfigurationError, loadDotEnv } from '../data-plane-agent/base/config.js';
import { createLifecycle } from '../data-plane-agent/base/lifecycle.js';
import { createLog, type Log } from '../data-plane-agent/base/log.js';
import { readServerConfig, type Config } from './config.js';
import { loadServerConfig, type LoadedConfig } from './config-load.js';
import { DatabaseUnreachable, urlSetting } from './database-check.js';
import { nextSteps } from './first-start.js';
import { databasesOf } from './databases.js';
import { listenFaultOf } from '../data-plane-agent/base/http/listen-fault.js';
import { namesOtherPort, openAddress, otherPort } from './open-address.js';
import { notProduction } from './operating-mode.js';
import { serve } from './serve.js';

/** Runs the server: reads the configuration, serves, and sets the exit code. */
export async function start(process: NodeJS.Process): Promise<void> {
  const loaded = await load(process);
  if (!loaded) return;
  const { config, warnings } = loaded;
  const log = createLog({ level: config.logLevel, name: 'duebook-server' });
  for (const { name, problem } of warnings) log.warn({ setting: name }, `${name} ${problem}`);
  if (!config.production) {
    log.warn({ production: false }, notProduction(config));
    if (namesOtherPort(config)) {
      const { problem, fix } = otherPort(config);
      log.warn({ setting: 'PUBLIC_URL' }, `PUBLIC_URL is ${problem}; ${fix}`);
    }
  }
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(process);
  try {
    const { port, services } = await serve(config, {
      clock: systemClock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
    });
    log.info(
      { host: config.host, port, publicUrl: config.publicUrl, edition: config.edition },
      `listening on http://${config.host}:${port}`,
    );
    if (await services.tenants.any()) return;
    log.info('no organisation exists yet: create one with "duebook bootstrap"');
    // On standard error, because the log on standard output is JSON.
    if (!config.production)
      process.stderr.write(
        nextSteps({
          productName: config.productName,
          address: openAddress({ ...config, port }),
          dataDir: config.dataDir,
          databases: Object.values(databasesOf(config)),
        }),
      );
  } catch (error) {
    reportFailure(error, { process, config, log });
    await lifecycle.stop('cannot start');
  }
}

/** Reads the configuration. Reports faults, sets the exit code and returns undefined if the server cannot start. */
async function load(process: NodeJS.Process): Promise<(LoadedConfig & { ok: true }) | undefined> {
  const env = loadDotEnv('.env', process.env);
  try {
    const loaded = await loadServerConfig(env);
    if (loaded.ok) return loaded;
    throw new ConfigurationError(loaded.faults);
  } catch (error) {
    const read = readServerConfig(env);
    const log = createLog({ level: read.ok ? read.values.logLevel : 'info', name: 'duebook-server' });
    reportFailure(error, { process, config: read.ok ? read.values : undefined, log });
    return undefined;
  }
}

interface Failing {
  readonly process: NodeJS.Process;
  /** Undefined if the settings have faults. */
  readonly config: Pick<Config, 'host' | 'port'> | undefined;
  readonly log: Log;
}

function reportFailure(error: unknown, { process, config, log }: Failing): void {
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
