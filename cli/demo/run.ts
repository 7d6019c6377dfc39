import { join } from 'node:path';
import { lockDataDir } from '../../data-plane-agent/agent/process-lock.js';
import { createLifecycle, type Lifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { createLog, type Log } from '../../data-plane-agent/base/log.js';
import { LOOPBACK_RANGES } from '../../data-plane-agent/base/outbound-addresses.js';
import type { Composed } from '../../server/compose.js';
import type { Config } from '../../server/config.js';
import { listenFaultOf } from '../../data-plane-agent/base/http/listen-fault.js';
import { openAddress } from '../../server/open-address.js';
import { jsonText, type Cli } from '../cli.js';
import { DEMO_OWNER, DEMO_TENANT } from './cast.js';
import { datedClock } from './dated-clock.js';
import type { Desk } from './desk.js';
import { enterBook } from './enter.js';
import { enterFiles } from './files.js';
import { runDemoAgent } from './hybrid/agent.js';
import { agentEnded, type AgentProcess } from './hybrid/agent-process.js';
import {
  agentSetup,
  enteringConfig,
  hostOfAgent,
  hybridCli,
  refuseFreePort,
  refuseOtherKind,
  refuseUnusablePort,
  type AgentSetup,
} from './hybrid/setup.js';
import { enterReminders } from './reminders.js';
import { completeDemo, demoPeople, demoTenant, type DemoTenant } from './tenant.js';
import { firstRequests, type Request } from './try-it.js';
import { CommandError, EXIT } from '../errors.js';
import { cliActor, configuration, lookAtConfiguration } from '../installation.js';
import { curlLine } from '../render/curl.js';

export interface DemoOptions {
  readonly hybrid?: true;
  readonly agentPort: number;
  /** False with `--no-serve`. */
  readonly serve: boolean;
  readonly json?: true;
}

/** What `duebook demo` does. */
export async function runDemo(given: Cli, options: DemoOptions): Promise<void> {
  const cli = options.hybrid ? hybridCli(given) : given;
  const config = withLoopback(cli, await configuration(cli, { quiet: options.json === true }));
  if (config.production)
    throw new CommandError(
      'DEMO_IN_PRODUCTION',
      'the demo is not for production (NODE_ENV=production): use "duebook bootstrap" to create an organisation',
    );
  const isHybrid = options.hybrid === true;
  refuseOtherKind(config, { hybrid: isHybrid });
  const agent = isHybrid ? await prepareAgent(cli, config, options) : undefined;
  // The access log would scroll the printed requests away: unless LOG_LEVEL is set, only warnings and errors are
  // logged.
  const asked = lookAtConfiguration(cli).sources['LOG_LEVEL'] !== 'default';
  const log = createLog({
    level: asked ? config.logLevel : 'warn',
    name: 'duebook-demo',
    destination: { write: (line) => cli.io.message(line.trimEnd()) },
  });
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(cli.process);
  try {
    const made = await createDemo(cli, { config, agent, log, lifecycle });
    if (options.serve) await serveDemo(cli, { ...made, config, agent, log, lifecycle, json: options.json === true });
    else print(cli, { ...made, json: options.json === true });
  } catch (error) {
    // A stop by signal closes the databases during the work. The resulting error is not a failure.
    if (lifecycle.state === 'draining' || lifecycle.state === 'stopped') return;
    await lifecycle.stop('failed');
    throw error;
  }
}

async function prepareAgent(cli: Cli, config: Config, { agentPort, serve }: DemoOptions): Promise<AgentSetup> {
  refuseFreePort(config);
  const setup = agentSetup(cli, { dataDir: config.dataDir, port: agentPort });
  if (serve) await refuseUnusablePort(setup);
  return setup;
}

/** Unless `OUTBOUND_ALLOW_PRIVATE` is set, notification channels of the demo reach programs on this machine. */
const withLoopback = (cli: Cli, config: Config): Config =>
  lookAtConfiguration(cli).sources['OUTBOUND_ALLOW_PRIVATE'] === 'default'
    ? { ...config, outboundAllowPrivate: [...LOOPBACK_RANGES] }
    : config;

interface Running {
  readonly config: Config;
  /** Stores the contracts, if there is one. */
  readonly agent: AgentSetup | undefined;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
}

interface DemoResult {
  readonly tenant: DemoTenant;
  /** False when it already existed. */
  readonly created: boolean;
}

/** The data is created before the server listens, so that no client sees incomplete data. */
async function createDemo(cli: Cli, { config, agent, log, lifecycle }: Running): Promise<DemoResult> {
  const actor = cliActor();
  const clock = datedClock(cli.clock);
  const parts = await cli.server();
  const lock = agent && lockDataDir(agent.config.dataDir);
  const composed = await parts
    .compose(agent ? enteringConfig(config, agent) : config, {
      clock,
      log,
      host: agent && hostOfAgent(agent, parts),
    })
    .catch((error: unknown) => {
      lock?.release();
      throw error;
    });
  const close = once(async () => {
    await composed.close();
    lock?.release();
  });
  // A stop during the work closes the databases after the current write.
  lifecycle.onStop('book', 'databases', close);
  try {
    const tenant = await demoTenant(composed, { dataDir: config.dataDir, actor });
    if (!tenant.complete) {
      const ids = await demoPeople(composed, { tenant, actor });
      const desk: Desk = {
        dataPlanes: composed.foundation.dataPlanes,
        tenant,
        ids,
        progress: (done, all) =>
          cli.io.progress(done === all ? '' : `Entering the demo's contracts: ${done} of ${all}`),
      };
      await enterBook(desk);
      await enterReminders({ desk, composed, clock });
      await enterFiles({
        dataPlanes: composed.foundation.dataPlanes,
        tenant,
        ids,
        objects: composed.foundation.hosted?.files.objects,
      });
      await completeDemo(composed, actor);
    }
    return { tenant, created: !tenant.complete };
  } finally {
    await close();
  }
}

function once(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}

async function serveDemo(
  cli: Cli,
  { tenant, created, config, agent, log, lifecycle, json }: DemoResult & Running & { json: boolean },
): Promise<void> {
  const { serve } = await cli.server();
  let serving: Composed & { readonly port: number };
  try {
    serving = await serve(config, {
      clock: cli.clock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
      signInAs: { tenantSlug: DEMO_TENANT.slug, email: DEMO_OWNER.email },
    });
  } catch (error) {
    const fault = listenFaultOf(error, config);
    throw fault ? new CommandError(fault.code, `${fault.problem}; ${fault.fix}`, { cause: error }) : error;
  }
  const behind = agent && (await runDemoAgent(cli, serving, { setup: agent, tenantId: tenant.id, config, lifecycle }));
  const address = openAddress({ ...config, port: serving.port });
  const requests = await firstRequests(serving, { tenant, address, clock: cli.clock });
  const served = { address, requests, accessTtl: config.accessTtl.text };
  print(cli, {
    tenant,
    created,
    json,
    served: agent && behind ? { ...served, agent: agentLines(agent, behind) } : served,
  });
  if (behind) stopWithoutAgent(cli, { agent: behind, lifecycle });
}

/** Reports the end of the agent, and ends the demo. */
function stopWithoutAgent(
  cli: Cli,
  { agent, lifecycle }: { readonly agent: AgentProcess; readonly lifecycle: Lifecycle },
): void {
  void agent.ended.then(async (end) => {
    if (lifecycle.state !== 'ready') return;
    cli.io.message(`duebook: ${agentEnded(end).message}`);
    await lifecycle.stop('the agent has ended');
    cli.process.exit(EXIT.failed);
  });
}

interface ShownAgent {
  readonly pid: number;
  readonly url: string;
  readonly dataDir: string;
  readonly operationLog: string;
}

const agentLines = ({ config }: AgentSetup, { pid }: AgentProcess): ShownAgent => ({
  pid,
  url: config.publicUrl,
  dataDir: config.dataDir,
  operationLog: join(config.dataDir, 'operations'),
});

interface Output extends DemoResult {
  readonly json: boolean;
  readonly served?: {
    readonly address: string;
    readonly requests: readonly Request[];
    readonly accessTtl: string;
    readonly agent?: ShownAgent;
  };
}

function print({ io }: Cli, { tenant, created, json, served }: Output): void {
  const signIn = { tenantSlug: DEMO_TENANT.slug, email: DEMO_OWNER.email, password: tenant.password };
  if (json) {
    return io.data(
      jsonText({
        tenant: { id: tenant.id, slug: DEMO_TENANT.slug },
        created,
        signIn,
        ...(served ? { url: served.address, tryIt: served.requests.map(curlLine) } : {}),
        ...(served?.agent ? { agent: served.agent } : {}),
      }),
    );
  }
  const lines = [
    created
      ? 'The demo was created: 3 companies, 12 members, 300 contracts, 3 000 payment lines.'
      : 'The demo already exists.',
    ...(served ? ['', `  Service   ${served.address}/api/v1   (reference: ${served.address}/docs)`] : ['']),
    ...(served?.agent ? aboutAgent(served.agent) : []),
    `  Sign in   organisation ${signIn.tenantSlug}, email ${signIn.email}, password ${signIn.password}`,
    '            (all twelve members have this password)',
    ...(served ? tryIt(served) : []),
  ];
  io.data(lines.join('\n'));
}

const aboutAgent = ({ pid, url, dataDir, operationLog }: ShownAgent): string[] => [
  `  Agent     process ${pid}, ${url}, connected to the service`,
  `            its contracts and files   ${dataDir}`,
  `            its log of operations     ${operationLog}`,
  `            (DATA_DIR=${dataDir} npx duebook-agent audit shows it)`,
];

const tryIt = ({ requests, accessTtl }: NonNullable<Output['served']>): string[] => [
  '',
  `Try these requests; their tokens are valid for ${accessTtl}, and the first request returns new ones:`,
  ...requests.flatMap((request) => ['', `  # ${request.about}`, `  ${curlLine(request)}`]),
  '',
  'Press Ctrl-C to stop.',
];
