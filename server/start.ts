import { availableParallelism } from 'node:os';
import { systemClock } from '../data-plane-agent/base/clock.js';
import { collectGarbage } from '../data-plane-agent/base/collect-garbage.js';
import { ConfigurationError, loadDotEnv } from '../data-plane-agent/base/config.js';
import { memoryModeOf, saveMemoryWhenIdle } from '../data-plane-agent/base/idle-memory.js';
import { createLifecycle } from '../data-plane-agent/base/lifecycle.js';
import { createLog, type Log } from '../data-plane-agent/base/log.js';
import { readServerConfig, type Config } from './config.js';
import { loadServerConfig, type LoadedConfig } from './config-load.js';
import { reportFailure } from './failed-start.js';
import { nextSteps } from './first-start.js';
import { databasesOf } from './databases.js';
import { namesOtherPort, openAddress, otherPort } from './open-address.js';
import { notProduction } from './operating-mode.js';
import { WORKER_ARGUMENT } from './worker-messages.js';
import { memoryOf, workersFor } from './workers-setting.js';

/** Runs the server: reads the configuration, serves, and sets the exit code. */
export async function start(process: NodeJS.Process): Promise<void> {
  // Nobody can be told of a message that could not be written.
  process.stderr.on('error', () => undefined);
  if (process.argv[2] === WORKER_ARGUMENT && process.connected) return (await import('./worker.js')).work(process);
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
  const workers =
    config.workers === 'auto'
      ? workersFor({ cores: availableParallelism(), memory: memoryOf(process) })
      : config.workers;
  const onReady = (started: Started): void => announce(started, { process, config, log, workers });
  if (workers === 1) return serveAlone(config, { process, log, onReady });
  const { supervise } = await import('./supervise.js');
  const { production } = config;
  supervise({ process, log, count: workers, settings: { settings: loaded.result.given, production }, onReady });
}

/** The service is ready for requests. */
export interface Started {
  readonly port: number;
  /** Whether no organisation exists yet. */
  readonly isEmpty: boolean;
}

/** The service is this one process. */
async function serveAlone(
  config: Config,
  { process, log, onReady }: { process: NodeJS.Process; log: Log; onReady: (started: Started) => void },
): Promise<void> {
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(process);
  try {
    // Not loaded by a supervisor, whose workers are the service.
    const { serve } = await import('./serve.js');
    const { port, services } = await serve(config, {
      clock: systemClock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
      // A start leaves as much garbage as it needs memory, and nobody waits for an answer yet.
      beforeFirst: collectGarbage,
    });
    saveMemoryWhenIdle(memoryModeOf(process.versions.node));
    onReady({ port, isEmpty: !(await services.tenants.any()) });
  } catch (error) {
    reportFailure(error, { process, config, log });
    await lifecycle.stop('cannot start');
  }
}

function announce(
  { port, isEmpty }: Started,
  { process, config, log, workers }: { process: NodeJS.Process; config: Config; log: Log; workers: number },
): void {
  log.info(
    { host: config.host, port, publicUrl: config.publicUrl, edition: config.edition, workers },
    `listening on http://${config.host}:${port}`,
  );
  if (!isEmpty) return;
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
