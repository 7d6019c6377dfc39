import type { Agent as HttpsAgent } from 'node:https';
import { ConfigurationError } from '../base/config.js';
import type { Clock } from '../base/clock.js';
import { isUnavailable } from '../base/database/errors.js';
import { createHttpApp } from '../base/http/app.js';
import { openFront } from '../base/http/front.js';
import { createMetrics } from '../base/http/metrics.js';
import { sendJson, type Page } from '../base/http/pages.js';
import { livez, readyz } from '../base/http/probes.js';
import { newId } from '../base/ids.js';
import type { Lifecycle } from '../base/lifecycle.js';
import { PROTOCOLS } from '../base/link/limits.js';
import type { Hello } from '../base/link/messages.js';
import type { Log } from '../base/log.js';
import { versionOf } from '../base/package-version.js';
import { createSchedules } from '../base/schedules.js';
import { openTracing } from '../base/tracing/open.js';
import { tracingOf } from '../base/tracing/settings.js';
import { measurePlane } from '../host/metrics.js';
import { openPlane, type HostedPlane } from '../host/open-plane.js';
import { planeDatabase } from '../host/plane-database.js';
import { stopInOrder } from '../host/stop-in-order.js';
import { operationsHash } from '../plane/operations/hash.js';
import type { AgentConfig } from './config.js';
import { createControlPlaneNews } from './control-plane-news.js';
import { refuseUnusableDatabase } from './database-check.js';
import { directRoutes } from './direct.js';
import { identityFiles } from './identity-files.js';
import { openIdentity, type AgentIdentity } from './identity.js';
import { agentJobs } from './jobs.js';
import { DIRECT, type AgentLink, type Connect } from './link.js';
import { createAgentMetrics } from './metrics.js';
import { openOperationLog, type OperationLog } from './operation-log.js';
import { createAnswering, type Answering } from './operations.js';
import { policyFileOf, readPolicy, type Policy } from './policy.js';
import { lockDataDir } from './process-lock.js';
import { createReporting, type Reporting } from './reporting.js';
import { planeOfJob } from './tenant-calls.js';

export interface ServeOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly residentBytes: () => number;
  /** Opens the outbound link, for an agent that connects to its control plane. */
  readonly connect: Connect;
  readonly httpAgent?: HttpsAgent | undefined;
}

/** A running agent. */
export interface ServingAgent {
  readonly port: number;
  readonly identity: AgentIdentity;
  readonly link: AgentLink;
  readonly hosted: HostedPlane;
  readonly answer: Answering;
  readonly operationLog: OperationLog;
  /** New at each start. */
  readonly bootId: string;
  hello(): Promise<Hello>;
  /** Reads the policy file again; an invalid one is logged, and the former policy stays in effect. */
  reloadPolicy(): void;
  /** Runs a scheduled job now. */
  runJob(name: string): Promise<void>;
}

/**
 * Opens the identity, listens, opens and migrates the data plane, and connects. While the database migrates, probes
 * are answered and other requests get 503. `lifecycle` stops the agent. Throws IdentityFault, ConfigurationError, or
 * AGENT_RUNNING.
 */
export async function serveAgent(config: AgentConfig, options: ServeOptions): Promise<ServingAgent> {
  const { clock, log, lifecycle } = options;
  const tracer = await openTracing(tracingOf(config), {
    serviceName: 'duebook-agent',
    version: versionOf(import.meta.url),
    clock,
    log,
    lifecycle,
  });
  const lock = lockDataDir(config.dataDir);
  lifecycle.onStop('lock', 'databases', () => lock.release());
  const identity = await openIdentity(identityFiles(config.dataDir));
  if (identity.rotates())
    log.warn(
      { connectionId: identity.connectionId },
      'a rotation of the key was interrupted: run "duebook-agent rotate-key" again',
    );
  let policy = policyOf(config);
  log.info({ policy: policy.summary, file: config.policyFile }, 'the policy of this agent');

  await refuseUnusableDatabase(config);
  const { host, port, tlsCert, tlsKey } = config;
  const tls = tlsCert === undefined || tlsKey === undefined ? undefined : { cert: tlsCert, key: tlsKey };
  const front = await openFront({ host, port, tls, clock, log });
  lifecycle.onStop('http', 'server', front.stop);
  const operationLog = openOperationLog({
    dataDir: config.dataDir,
    keyRing: config.keyRing,
    days: config.operationLogDays,
    clock,
    log,
  });
  lifecycle.onStop('operation log', 'databases', () => operationLog.close());
  operationLog.removeOld();
  const hosted = await openPlane(config, options);
  const reporting = createReporting(config, { hosted, clock, log });
  const metrics = createMetrics({ token: config.metricsToken, pools: { tenant: () => hosted.database.pool() } });
  measurePlane(metrics, { hosted, clock });
  let link: AgentLink = DIRECT;
  const counted = createAgentMetrics(metrics.registry, () => link);
  const answer = createAnswering({
    identity,
    plane: hosted.plane,
    policy: () => policy,
    operationLog,
    clock,
    log,
    tracer,
    onAnswered: counted.answered,
    onRefused: counted.refused,
  });
  const bootId = newId();
  const hello = createHelloOf(config, { identity, bootId, reporting });
  const news = createControlPlaneNews(identity, { log });
  const isDirect = identity.accessMode === 'direct';
  if (!isDirect) {
    link = options.connect({
      identity,
      hello,
      answer: (message, { signal, sid }) => answer(message, { signal, session: sid }),
      onWelcome: news.welcome,
      onNotice: news.notice,
      report: reporting.report,
      log,
      clock,
      httpAgent: options.httpAgent,
    });
  }
  const schedules = createSchedules({
    jobs: agentJobs({ hosted, identity, link, reporting, operationLog, clock }),
    leases: { during: (_name, _ms, work) => work() }, // the lock of the data directory is the lease
    log,
    tracer,
  });
  stopInOrder(lifecycle, { hosted, schedules, close: hosted.close });
  // First of all, so that the control plane sends no more while the rest stops.
  lifecycle.onStop('link', 'drain', () => link.stop());
  front.serve(
    createHttpApp({
      clock,
      log,
      trustProxy: 0,
      corsOrigins: [],
      observers: [metrics.observe],
      isTransient: isUnavailable,
      pages: [
        livez,
        readyz({ ready: async () => lifecycle.state === 'ready' && (await hosted.probes.database(1_000)) }),
        healthz({ reporting, link: () => link }),
        metrics.page,
      ],
      routes: [
        ...(isDirect
          ? [directRoutes({ identity, answer, hello, news, bootId, clock, onRefused: counted.refused })]
          : []),
        ...hosted.routes,
      ],
    }),
  );
  schedules.start();
  hosted.background.add(hosted.probes.files());
  hosted.background.add(reporting.refresh());
  hosted.background.add(lookForWork({ hosted, identity, clock, log }));
  lifecycle.ready();
  return {
    port: front.port,
    identity,
    link,
    hosted,
    answer,
    operationLog,
    bootId,
    hello,
    reloadPolicy: () => {
      const read = readPolicy(policyFileOf(config));
      if (read.ok) policy = read.policy;
      if (read.ok) log.info({ policy: policy.summary, file: config.policyFile }, 'the policy of this agent');
      else log.error({ faults: read.faults }, 'the policy file is invalid; the former policy stays in effect');
    },
    runJob: schedules.run,
  };
}

/** Throws ConfigurationError. */
export function policyOf(config: AgentConfig): Policy {
  const read = readPolicy(policyFileOf(config));
  if (!read.ok) throw new ConfigurationError(read.faults);
  return read.policy;
}

const createHelloOf =
  (
    config: AgentConfig,
    {
      identity,
      bootId,
      reporting,
    }: { readonly identity: AgentIdentity; readonly bootId: string; readonly reporting: Reporting },
  ): (() => Promise<Hello>) =>
  async () => ({
    instanceId: identity.instanceId,
    bootId,
    sequence: await identity.nextSequence(),
    version: versionOf(import.meta.url),
    protocols: PROTOCOLS,
    operations: operationsHash(),
    schema: planeDatabase(config).migrations.at(-1)?.id ?? '',
    report: reporting.report(),
  });

/** The state of the agent, for people and monitoring. Always 200: `/readyz` is for load balancers. */
const healthz = ({ reporting, link }: { readonly reporting: Reporting; readonly link: () => AgentLink }): Page => ({
  path: '/healthz',
  answer: (ctx) => {
    const { components } = reporting.report();
    const { state, connection = state } = link();
    const isOk = state !== 'disconnected' && components.every((component) => component.state !== 'down');
    sendJson(ctx, {
      status: isOk ? 'ok' : 'degraded',
      link: state,
      connection,
      ...Object.fromEntries(components.map((component) => [component.kind, component.state])),
    });
  },
});

/** Once at the start too: the agent may have been down at the time of day at which the job runs. */
async function lookForWork({
  hosted,
  identity,
  clock,
  log,
}: {
  readonly hosted: HostedPlane;
  readonly identity: AgentIdentity;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<void> {
  try {
    await planeOfJob(hosted.plane, { identity, job: 'look-for-work', at: clock.now() }).lookForWork({});
  } catch (error) {
    log.error({ err: error, job: 'look-for-work' }, 'scheduled work failed');
  }
}
