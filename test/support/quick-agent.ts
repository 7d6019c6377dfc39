import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import schedule from 'node-schedule';
import { loadAgentConfig } from '../../data-plane-agent/agent/config-load.js';
import { connectOutbound } from '../../data-plane-agent/agent/link/outbound.js';
import { serveAgent } from '../../data-plane-agent/agent/serve.js';
import { reportFaults } from '../../data-plane-agent/base/config.js';
import { createLifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { startProcess, type Running } from './process.js';
import { COMPILE_CACHE, program } from './programs.js';
import { watchSteps } from './steps-of.js';

/** How far the clock of the process is ahead, in milliseconds. */
const AHEAD = 'TEST_CLOCK_AHEAD_MS';
/** A file in the agent's directory; `confirmFile:3`: the process kills itself before the third step of that operation. */
const DIES_BEFORE = 'dies-before';

/** The agent in that directory will kill itself before the step; without one it will not. */
export function letDie(
  dataDir: string,
  before: { readonly operation: string; readonly step: number } | undefined,
): void {
  const file = join(dataDir, DIES_BEFORE);
  if (before) writeFileSync(file, `${before.operation}:${before.step}`);
  else rmSync(file, { force: true });
}

export interface QuickAgent {
  readonly dataDir: string;
  readonly aheadMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts `duebook-agent run` with the shortest delays before new connections, for tests that kill it, or what it is
 * connected to, again and again. Scheduled work does not run, so that a test decides when: SIGUSR2 runs the jobs of files
 * (readings, scans, the sweep).
 */
export const startQuickAgent = ({ dataDir, aheadMs = 0, env = {} }: QuickAgent): Promise<Running> =>
  startProcess([program('test/support/quick-agent.ts')], {
    path: '/livez',
    env: {
      ...COMPILE_CACHE,
      LOG_LEVEL: 'fatal',
      ...env,
      DATA_DIR: dataDir,
      [AHEAD]: String(aheadMs),
    },
  });

if (process.argv[1] === import.meta.filename) {
  const loaded = loadAgentConfig(process.env);
  if (!loaded.ok) throw new Error(reportFaults(loaded.faults));
  const log = createLog({ level: loaded.config.logLevel, name: 'duebook-agent' });
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(process);
  const aheadMs = Number(process.env[AHEAD] ?? 0);
  const { hosted, runJob } = await serveAgent(loaded.config, {
    clock: { now: () => Date.now() + aheadMs },
    log,
    lifecycle,
    residentBytes: () => process.memoryUsage.rss(),
    connect: (linked) => connectOutbound({ ...linked, random: () => 0 }),
  });
  await schedule.gracefulShutdown();
  let jobs: Promise<unknown> = Promise.resolve();
  process.on('SIGUSR2', () => {
    for (const name of ['documents', 'file-scans', 'file-sweep']) jobs = jobs.then(() => runJob(name));
  });
  const file = join(loaded.config.dataDir, DIES_BEFORE);
  const told = () => (existsSync(file) ? readFileSync(file, 'utf8').split(':') : []);
  watchSteps(hosted, {
    operation: () => told()[0],
    onStep: ({ number }) => {
      if (number < Number(told()[1] ?? Infinity)) return Promise.resolve();
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    },
  });
}
