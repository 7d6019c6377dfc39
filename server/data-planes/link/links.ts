import { createOutbound, type Outbound } from '../../../data-plane-agent/base/outbound.js';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import type { Metrics } from '../../../data-plane-agent/base/http/metrics.js';
import type { HttpMiddleware } from '../../../data-plane-agent/base/http/exchange.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import { versionOf } from '../../../data-plane-agent/base/package-version.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { Job } from '../../../data-plane-agent/base/schedules.js';
import type { Tracer } from '../../../data-plane-agent/base/tracing/spans.js';
import type { Edition } from '../../access/edition.js';
import type { Changes } from '../../access/changes.js';
import { agentsAreUp, linksByState } from '../../store/agent-health.js';
import type { DataPlanes } from '../for-tenant.js';
import { authenticateAgent } from '../joining/agent-token.js';
import { createLinkKeys, type LinkKeys } from '../joining/link-keys.js';
import { agentPlanes } from './agent-planes.js';
import { createBreaker } from './breaker.js';
import { createDirect } from './direct.js';
import { createDirectAgents } from './direct-agents.js';
import { forwardedRequests } from './forwarded.js';
import { createHub, type Hub } from './hub.js';
import { createLocalSessions } from './local-sessions.js';
import { linkMetrics, type LinkMetrics } from './metrics.js';
import { createPeers } from './peers.js';
import { createRegistry } from './registry.js';
import { createRoutes } from './routes.js';
import { createAgentStates } from './states.js';

/** What happens at agents. */
export interface LinkEvents {
  /** Messages of the tenant's outbox are due. */
  onOutbox(tenantId: string): void;
  /** The tenant's agent is connected again. */
  onReturn(tenantId: string): void;
}

/** The control plane's side of all links to agents. */
export interface Links {
  readonly dataPlanes: DataPlanes;
  readonly keys: LinkKeys;
  /** The sessions that this process holds; undefined if it accepts none. */
  readonly hub: Hub | undefined;
  readonly routes: readonly HttpMiddleware[];
  readonly jobs: readonly Job[];
  /** Whether all agents that have joined are connected and have their database. */
  isUp(): Promise<boolean>;
  /** Closes the sessions of a connection at this process. */
  revoked(connectionId: string): void;
  /** From now on events are reported, changes noticed and operations measured. */
  attach(parts: {
    readonly events: LinkEvents;
    readonly changes: Changes;
    readonly metrics: Pick<Metrics, 'tally' | 'durations' | 'readings'>;
  }): void;
  close(): void;
}

export interface LinkConfig {
  readonly edition: Edition;
  readonly publicUrl: string;
  readonly keyRing: KeyRing;
  readonly trustProxy: number;
  readonly outboundAllowPrivate: readonly string[];
  readonly production: boolean;
  /** Where other replicas reach this process. */
  readonly peerUrl?: string | undefined;
}

export interface LinksParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Records calls to agents. */
  readonly tracer?: Tracer | undefined;
  /** The port of this process if it accepts sessions. */
  readonly port?: number | undefined;
  /** For tests: replaces the client for agents that are called directly. */
  readonly outbound?: Pick<Outbound, 'request'> | undefined;
  /** Called with the time by an agent's clock, in epoch milliseconds, when it has replied. */
  readonly onReply?: ((tenantId: string, signedAt: number) => void) | undefined;
}

export function createLinks(
  { edition, publicUrl, keyRing, trustProxy, outboundAllowPrivate, production, peerUrl }: LinkConfig,
  {
    database,
    clock,
    log,
    tracer,
    port,
    onReply,
    outbound = createOutbound({ allowPrivate: outboundAllowPrivate, production, keepAlive: true }),
  }: LinksParts,
): Links {
  const controlPlane = new URL(publicUrl).origin;
  const holder = newId();
  const version = versionOf(import.meta.url);
  const keys = createLinkKeys({ database, clock, keyRing });
  const sessions = createLocalSessions();
  const registry = createRegistry({
    database,
    clock,
    holder,
    peerUrl: peerUrl ?? `http://127.0.0.1:${port ?? 0}`,
  });
  const peers = createPeers({ controlPlane, clock, signer: keys.signer });
  const direct = createDirect({ controlPlane, clock, signers: keys.signers, outbound });
  const states = createAgentStates({ database, linked: edition === 'enterprise_hybrid' });
  const breaker = createBreaker();
  let events: LinkEvents = { onOutbox: () => undefined, onReturn: () => undefined };
  let metrics: LinkMetrics | undefined;

  const changed = (tenantId: string): void => {
    states.changed(tenantId);
    routes.changed(tenantId);
    breaker.reset(tenantId);
  };
  const directAgents = createDirectAgents({
    database,
    clock,
    log,
    direct,
    publicKeys: keys.publicKeys,
    version,
    onChanged: changed,
    onOutbox: (tenantId) => events.onOutbox(tenantId),
    onReturn: (tenantId) => events.onReturn(tenantId),
  });
  const routes = createRoutes({ controlPlane, sessions, registry, peers, direct, greet: directAgents.greet });
  const hub =
    port === undefined
      ? undefined
      : createHub({
          registry,
          sessions,
          peers,
          admit: (token) => authenticateAgent({ token, type: 'connect' }, { database, clock, publicUrl }),
          controlPlane,
          keys,
          holder,
          version,
          trustProxy,
          clock,
          log,
          onChanged: changed,
          onOutbox: (tenantId) => events.onOutbox(tenantId),
          onReturn: (tenantId) => events.onReturn(tenantId),
          onRefused: (reason) => metrics?.notAdmitted(reason),
        });

  return {
    dataPlanes: agentPlanes({
      states,
      routes,
      breaker,
      signers: keys.signers,
      clock,
      metrics: {
        answered: (operation) => metrics?.answered(operation),
        refused: (by, reason) => metrics?.refused(by, reason),
        notAdmitted: (reason) => metrics?.notAdmitted(reason),
      },
      greetAgain: directAgents.greet,
      tracer,
      onReply,
    }),
    keys,
    hub,
    routes: hub ? [forwardedRequests({ controlPlane, holder, clock, keyOf: keys.verifier, sessions })] : [],
    jobs: hub ? [{ name: 'direct-agents', rule: '*/20 * * * * *', run: directAgents.poll }] : [],
    isUp: () => agentsAreUp(database, clock.now()),
    revoked: (connectionId) => hub?.revoked(connectionId),
    attach: (parts) => {
      events = parts.events;
      metrics = linkMetrics(parts.metrics, () => linksByState(database, clock.now()));
      parts.changes.listen((change) => {
        if (change.kind !== 'tenant') return;
        states.changed(change.tenantId);
        hub?.tenantChanged(change.tenantId);
      });
    },
    close: () => peers.close(),
  };
}
