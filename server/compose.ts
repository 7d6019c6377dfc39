import { availableParallelism } from 'node:os';
import type Koa from 'koa';
import type { Clock } from '../data-plane-agent/base/clock.js';
import { newId } from '../data-plane-agent/base/ids.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import { isUnavailable } from '../data-plane-agent/base/database/errors.js';
import { Leases } from '../data-plane-agent/base/database/leases.js';
import type { Log } from '../data-plane-agent/base/log.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';
import type { Tracer } from '../data-plane-agent/base/tracing/spans.js';
import { bind } from '../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../data-plane-agent/plane/operations/index.js';
import { createApp } from './app.js';
import { createPlatformAudit } from './audit/platform-audit.js';
import { createRefusals } from './audit/refusals.js';
import { createChanges } from './access/changes.js';
import { createPlans } from './access/plans.js';
import { composeAuth } from './compose/auth.js';
import { composeCalendar } from './compose/calendar.js';
import { composeCollections } from './compose/collections.js';
import { composeJoining } from './compose/joining.js';
import { composeChallenge } from './compose/challenge.js';
import { composeLinkEvents } from './compose/links.js';
import { composeTenants } from './compose/tenants.js';
import { createPasswords, type Argon2 } from './credentials/passwords.js';
import { createSignInMethods } from './credentials/sign-in-methods.js';
import type { Config } from './config.js';
import { callOf } from './data-planes/call.js';
import { createLinkKeys } from './data-planes/joining/link-keys.js';
import { ENDPOINTS } from './endpoints/index.js';
import { openFoundation, type Foundation, type Host } from './foundation.js';
import { createHealth } from './services/health.js';
import { accountPages } from './http/account-pages.js';
import { readJson } from './http/body.js';
import { bodyLimits } from './http/body-limits.js';
import { docsPages } from './http/docs-page.js';
import { guidePages } from './http/guide-pages.js';
import { homePages, type SignInAs } from './http/home-page.js';
import type { HttpState } from '../data-plane-agent/base/http/exchange.js';
import type { Caller } from './http/handler.js';
import { createMetrics, type MeasuredMetrics, type OtherProcesses } from '../data-plane-agent/base/http/metrics.js';
import { livez, readyz } from '../data-plane-agent/base/http/probes.js';
import { openapiPage } from './http/openapi-page.js';
import { createOverload, type Overload } from './http/overload.js';
import { rateLimit } from './http/rate-limit.js';
import { createTurns, type TurnsOptions } from './http/turns.js';
import { refuseOtherKeys } from './key-ring-check.js';
import { createOutbounds } from './outbounds.js';
import { createAiGateway } from './integrations/ai-gateway/ai-gateway.js';
import { policyOf } from './integrations/ai-gateway/settings.js';
import { jobsOf } from './jobs.js';
import { createMailOutbox } from './notifications/outbox.js';
import { deliveryLabels, queueReadings } from './notifications/metrics.js';
import { composeDelivering, composeSender } from './compose/notifications.js';
import { keySet } from './pages.js';
import { createSchedules, type Schedules } from '../data-plane-agent/base/schedules.js';
import { measurePlane } from '../data-plane-agent/host/metrics.js';
import type { Services } from './services/services.js';
import { keyedDatabase } from './store/keyed-database.js';
import { createReminders } from './collections/reminders.js';
import { sealTargets } from './tenants/sealed-targets.js';

export interface ComposeOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Records requests, jobs and calls to agents; without it nothing is. */
  readonly tracer?: Tracer | undefined;
  /** Resident memory of the process, in bytes, to abort documents that use too much. Without it none is aborted. */
  readonly residentBytes?: (() => number) | undefined;
  /** The account of the sign-in example on the page `/`: the demo's. */
  readonly signInAs?: SignInAs | undefined;
  /** Whether the process accepts requests: not during startup and draining. */
  readonly accepting?: () => boolean;
  /** For tests: an answer that does not match its declaration is an error. */
  readonly checkAnswers?: boolean;
  /** For tests that count hash calls. */
  readonly argon2?: Argon2 | undefined;
  /** For tests: hosts the data plane elsewhere and calls it over a connection. */
  readonly host?: Host | undefined;
  /** For tests: other limits of requests that wait for their turn. */
  readonly turns?: TurnsOptions | undefined;
  /** The port on which the process listens, for connections of agents. Without it none are accepted. */
  readonly port?: number | undefined;
  /** If the service has several processes, of which this is one. */
  readonly workers?: Workers | undefined;
}

/** The processes of the service that share its port. */
export interface Workers {
  readonly count: number;
  readonly others: OtherProcesses;
}

export interface Composed {
  readonly app: Koa<HttpState>;
  readonly overload: Overload;
  readonly services: Services;
  readonly foundation: Foundation;
  /** Not started yet: `serve` starts them. */
  readonly schedules: Schedules;
  /** What this process has measured. */
  measured(): Promise<MeasuredMetrics>;
  close(): Promise<void>;
}

/** Composes all parts of the product. No other module knows how they are created. */
export async function compose(
  config: Config,
  {
    clock,
    log,
    tracer,
    residentBytes = () => 0,
    accepting = () => true,
    checkAnswers = false,
    argon2,
    host,
    port,
    signInAs,
    turns,
    workers,
  }: ComposeOptions,
): Promise<Composed> {
  const foundation = await openFoundation(config, { clock, log, tracer, residentBytes, host, port });
  const { platform, hosted, dataPlanes, links } = foundation;
  try {
    await refuseOtherKeys(platform, config);
    const sealed = await sealTargets(platform, config.keyRing);
    if (sealed > 0) log.info({ sealed }, 'plain-text targets of notification channels were encrypted');
    const tenantDb = hosted?.probes.database ?? links?.isUp ?? (() => Promise.resolve(true));
    const health = createHealth({
      edition: config.edition,
      clock,
      platformDb: (timeoutMs) => platform.ping(timeoutMs),
      tenantDb,
      scanner: () => hosted?.files.scanner.state() ?? 'off',
    });
    const mail = createMailOutbox({ clock, keyRing: config.keyRing, configured: config.smtpUrl !== undefined });
    const signInMethods = createSignInMethods({ clock, mail });
    const passwords = await createPasswords({ cores: coresOf(workers), ...(argon2 && { argon2 }) });
    const parts = {
      database: keyedDatabase({ database: platform, clock, keyRing: config.keyRing }),
      clock,
      changes: createChanges(),
      mail,
      passwords,
      signInMethods,
    };
    const outbounds = createOutbounds(config);
    const plans = createPlans({
      ...(config.planCatalog && { catalog: config.planCatalog }),
      selfHosted: config.edition === 'self_hosted',
    });
    const sender = composeSender(config, { clock, log, outbound: outbounds.forTenants });
    const { tenants, directory } = composeTenants(config, {
      ...parts,
      dataPlanes,
      outbound: outbounds.forTenants,
      sender,
      onRevoked: links?.revoked,
    });
    const { authenticator, ...auth } = await composeAuth(config, {
      ...parts,
      log,
      plans,
      directory,
      outbound: outbounds.forOperator,
    });
    const calendar = composeCalendar(config, { ...parts, log, dataPlanes, outbound: outbounds.forOperator });
    const metrics = createMetrics({
      token: config.metricsToken,
      queues: queueReadings({ platform, hosted, clock }),
      others: workers?.others,
      pools: { platform: () => platform.pool(), ...(hosted ? { tenant: () => hosted.database.pool() } : {}) },
    });
    if (hosted) measurePlane(metrics, { hosted, clock });
    const { engine, deliveries, mails } = composeDelivering(config, {
      ...parts,
      log,
      dataPlanes,
      directory,
      sender,
      onSettled: (attempt) => metrics.delivered(deliveryLabels(attempt)),
    });
    const { runReminders, reminderSweeps } = composeCollections({ ...parts, log, dataPlanes, deliveries, metrics });
    links?.attach({ changes: parts.changes, metrics, events: composeLinkEvents({ log, deliveries, reminderSweeps }) });
    const audit = createPlatformAudit({ database: platform, keyRing: config.keyRing });
    const refusals = createRefusals({ database: platform, clock, log });
    const services: Services = {
      ...auth,
      tenants,
      directory,
      audit,
      health,
      aiGateway: createAiGateway({
        policy: policyOf(config),
        database: platform,
        clock,
        keyRing: config.keyRing,
        directory,
      }),
      calendar,
      mail,
      sender,
      deliveries,
      reminders: createReminders({ ...parts, contractLink: config.contractLink, directory, sender, deliveries }),
      runReminders,
      challenge: composeChallenge(config, { log }),
    };
    const version = versionOf(import.meta.url);
    const linkKeys = links?.keys ?? createLinkKeys({ ...parts, keyRing: config.keyRing });
    const overload = createOverload({
      turns: createTurns({ mayBegin: () => [platform, hosted?.database].every(hasRoom), ...turns }),
      clock,
      log,
      metrics,
    });
    const limit = rateLimit({ perMinute: config.rateLimitPerMinute, isOneOfSeveral: workers !== undefined });
    const joining = composeJoining(config, {
      ...parts,
      linkKeys,
      version,
      limit: limit?.address,
      readJson: (ctx) => readJson(ctx, bodyLimits({ needs: 'public' })),
    });
    const app = createApp({
      endpoints: ENDPOINTS,
      api: {
        services,
        authenticator,
        plans,
        planeFor: (caller: Caller) =>
          bind(dataPlanes.forTenant(caller.principal.tenant.id), callOf(caller), {
            operations: OPERATIONS,
            only: caller.calls,
            onReplay: caller.onReplay,
            signal: caller.signal,
          }),
        limit,
        overload,
        https: config.publicUrl.startsWith('https:'),
        checkAnswers,
      },
      pages: [
        livez,
        readyz({ ready: async () => accepting() && (await health.platformDbUp()) }),
        metrics.page,
        keySet(services.keys),
        openapiPage(ENDPOINTS, { ...config, version, examples: examplesOfEndpoints }),
        ...homePages({ ...config, signInAs, isSetUp: tenants.any, isTransient: isUnavailable }),
        ...docsPages(config),
        ...guidePages(config),
        ...accountPages(config),
      ],
      routes: [...(hosted?.routes ?? []), ...(links?.routes ?? []), ...joining],
      clock,
      log,
      tracer,
      corsOrigins: config.corsOrigins,
      trustProxy: config.trustProxy,
      recordRefusal: refusals.record,
      observers: [metrics.observe],
    });
    const schedules = createSchedules({
      jobs: jobsOf({
        database: platform,
        clock,
        log,
        audit,
        refusals,
        dataPlanes,
        hosted,
        calendar: calendar.upkeep,
        engine,
        deliveries,
        mails,
        reminderSweeps,
        links,
      }),
      leases: new Leases(platform, clock, { holder: newId(), log }),
      log,
      tracer,
    });
    const close = async (): Promise<void> => {
      await engine.stop();
      await refusals.flush();
      await foundation.close();
    };
    return { app, overload, services, foundation, schedules, measured: metrics.measured, close };
  } catch (error) {
    await foundation.close();
    throw error;
  }
}

/** Loaded with the first document that has them. */
const examplesOfEndpoints = async () => (await import('./endpoints/examples.js')).EXAMPLES;

/**
 * Whether a database can take more work: on PostgreSQL, fewer requests wait for a connection than there are. An SQLite
 * database works in this process, whose turns are limited by time.
 */
function hasRoom(database: Database | undefined): boolean {
  if (database?.dialect !== 'postgres') return true;
  const { used, free, waiting } = database.pool();
  return waiting === 0 || waiting < used + free;
}

/** How many cores a process may keep busy with what others wait for: its share. */
const coresOf = (workers: Workers | undefined): number => Math.ceil(availableParallelism() / (workers?.count ?? 1));
