import { systemClock } from '../data-plane-agent/base/clock.js';
import { CONFIG_EXIT_CODE, loadDotEnv, reportFaults } from '../data-plane-agent/base/config.js';
import { createLifecycle } from '../data-plane-agent/base/lifecycle.js';
import { createLog } from '../data-plane-agent/base/log.js';
import { loadServerConfig } from './config-load.js';
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
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(process);
  try {
    const { port } = await serve(config, {
      clock: systemClock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
    });
    log.info(
      { host: config.host, port, publicUrl: config.publicUrl, edition: config.edition },
      `listening on http://${config.host}:${port}`,
    );
  } catch (error) {
    const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    log.fatal(
      { err: error },
      inUse ? `cannot start: ${config.host}:${config.port} is in use; set PORT to another port` : 'cannot start',
    );
    await lifecycle.stop('cannot start');
    process.exitCode = 1;
  }
}
