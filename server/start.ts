import { systemClock } from '../data-plane-agent/base/clock.js';
import { CONFIG_EXIT_CODE, ConfigurationError, loadDotEnv, reportFaults } from '../data-plane-agent/base/config.js';
import { createLifecycle } from '../data-plane-agent/base/lifecycle.js';
import { createLog, type Log } from '../data-plane-agent/base/log.js';
import type { Config } from './config.js';
import { loadServerConfig } from './config-load.js';
import { DatabaseUnreachable, urlSetting } from './database-check.js';
import { nextSteps } from './first-start.js';
import { notProduction } from './operating-mode.js';
import { serve } from './serve.js';

/** Runs the server: reads the configuration, serves, and sets the exit code. */
export async function start(process: NodeJS.Process): Promise<void> {
  const loaded = loadServerConfig(loadDotEnv('.env', process.env));
  if (!loaded.ok) {
    process.stderr.write(`${reportFaults(loaded.faults)}\n`);
    process.exitCode = CONFIG_EXIT_CODE;
    return;
  }
  const { config, warnings } = loaded;
  const log = createLog({ level: config.logLevel, name: 'duebook-server' });
  for (const { name, problem } of warnings) log.warn({ setting: name }, `${name} ${problem}`);
  if (!config.production) log.warn({ production: false }, notProduction(config));
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
          address: config.port === 0 ? `http://127.0.0.1:${port}` : config.publicUrl,
        }),
      );
  } catch (error) {
    if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
    else logFailure(error, { config, log });
    await lifecycle.stop('cannot start');
    process.exitCode = error instanceof ConfigurationError ? CONFIG_EXIT_CODE : 1;
  }
}

/** Logs one line for each database that cannot be connected to, without a stack, which does not help an operator. */
function logFailure(error: unknown, { config, log }: { config: Config; log: Log }): void {
  if (error instanceof DatabaseUnreachable) {
    for (const { database, problem, fix } of error.faults)
      log.fatal({ setting: urlSetting(database), fix }, `cannot start: ${urlSetting(database)}: ${problem}`);
    return;
  }
  const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  log.fatal(
    { err: error },
    inUse ? `cannot start: ${config.host}:${config.port} is in use; set PORT to another port` : 'cannot start',
  );
}
