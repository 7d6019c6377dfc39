import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Upgrades } from '../../../data-plane-agent/base/http/listen.js';
import { announce, type Announcement } from '../../../data-plane-agent/base/link/announcement.js';
import { CLOSED, LINK } from '../../../data-plane-agent/base/link/limits.js';
import { TOPICS, type AgentReport, type LinkedTenant } from '../../../data-plane-agent/base/link/messages.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import { operationsHash } from '../../../data-plane-agent/plane/operations/hash.js';
import type { LinkKeys } from '../joining/link-keys.js';
import type { AuthenticatedAgent } from '../joining/agent-token.js';
import { createCopies } from './copies.js';
import { greet, GreetingRefused, type Greeted } from './greeting.js';
import { factsOf, type LocalSession, type LocalSessions } from './local-sessions.js';
import type { Peers } from './peers.js';
import type { Registry } from './registry.js';
import { createRepeated } from './repeated.js';
import { createUpgrades } from './upgrades.js';

export interface HubParts {
  readonly registry: Registry;
  readonly sessions: LocalSessions;
  readonly peers: Peers;
  readonly admit: (token: string) => Promise<AuthenticatedAgent>;
  /** The origin of the control plane. */
  readonly controlPlane: string;
  readonly keys: Pick<LinkKeys, 'signers' | 'publicKeys'>;
  readonly holder: string;
  readonly version: string;
  readonly trustProxy: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The sessions or the state of a tenant's connection have changed. */
  readonly onChanged: (tenantId: string) => void;
  /** An agent is ready, or says that messages are due. */
  readonly onOutbox: (tenantId: string) => void;
  /** The first session of a tenant at this process is ready. */
  readonly onReturn: (tenantId: string) => void;
  readonly onRefused: (reason: string) => void;
}

/** Holds the sessions of agents that connected to this process. */
export interface Hub {
  readonly upgrades: Upgrades;
  /** Begins to accept sessions, and to notice what other replicas change. */
  start(): Promise<void>;
  /** Closes the sessions of a connection that was revoked. */
  revoked(connectionId: string): void;
  /** Sends the agent of a tenant what has changed about it. */
  tenantChanged(tenantId: string): void;
  /** Asks agents to connect to another replica, if there is one, and waits until they have. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Other replicas are noticed within this time when they revoke a connection. */
const LOOK_MS = 500;
/** How often agents are sent what other replicas changed. */
const NEWS_MS = 5_000;
const ALIVE_MS = 15_000;
/** The longest that a stop waits for agents to connect elsewhere. */
const MOVE_MS = 10_000;
/** Agents that are asked to connect elsewhere do so one after the other, this long apart on average. */
const SPREAD_MS = 15;
const LEAST_SPREAD_MS = 1_000;

export function createHub(parts: HubParts): Hub {
  const { registry, sessions, peers, clock, log, onChanged } = parts;
  let state: 'new' | 'open' | 'draining' | 'closed' = 'new';
  /** What each session was last sent, as JSON. */
  const sent = new Map<string, { tenant: string; keys: string }>();
  const local = new Map<Greeted, LocalSession>();

  const tenantOf = async (tenantId: string): Promise<LinkedTenant> => {
    const [tenant] = await registry.tenants([tenantId]);
    if (!tenant) throw new GreetingRefused(CLOSED.revoked, 'the organisation does not exist');
    return tenant;
  };

  const closeAll = (connectionId: string, code: number, reason: string): void => {
    for (const one of sessions.all()) if (one.connectionId === connectionId) one.session.close(code, reason);
  };
  const copies = createCopies({ ...parts, closeAll });

  const welcome = async (greeted: Greeted) => {
    await copies.refuse(greeted);
    if (!(await registry.takeSequence(greeted))) {
      if (!(await isValid(greeted))) throw new GreetingRefused(CLOSED.revoked, 'the connection is not connected');
      throw await copies.suspend(greeted, 'the number of the session is another one');
    }
    const [tenant, keys, hasPeers] = await Promise.all([
      tenantOf(greeted.admitted.connection.tenantId),
      parts.keys.publicKeys(),
      registry.hasPeers(),
    ]);
    sent.set(greeted.sid, { tenant: JSON.stringify(tenant), keys: JSON.stringify(keys) });
    return {
      version: parts.version,
      operations: operationsHash(),
      tenant,
      keys: [...keys],
      connections: hasPeers ? 2 : 1,
    };
  };

  /** With the oldest key, which the agent knows even if it has not heard of a newer one. */
  const announced = async (
    to: Pick<LocalSession, 'tenantId' | 'connectionId' | 'sid'>,
    topic: string,
    value: unknown,
  ): Promise<Announcement> => {
    const signer = (await parts.keys.signers()).at(-1);
    if (!signer) throw new Error('there is no key to sign what agents are sent');
    return announce(factsOf(to, parts.controlPlane), { topic, value, signer, clock });
  };

  const isValid = async (greeted: Greeted): Promise<boolean> => (await registry.statusOf(greeted)) === 'connected';

  const ready = async (greeted: Greeted): Promise<void> => {
    const { tenantId, id: connectionId } = greeted.admitted.connection;
    if (!(await registry.opened(greeted))) throw new GreetingRefused(CLOSED.revoked, 'the connection is not connected');
    const { sid, session, hello, protocol } = greeted;
    const isFirst = !sessions.of(tenantId);
    const { bootId } = hello;
    const one: LocalSession = { sid, tenantId, connectionId, bootId, protocol, openedAt: clock.now(), session };
    local.set(greeted, one);
    sessions.add(one);
    // Two processes may have been welcomed at the same time: each sees the other now.
    await copies.refuse(greeted);
    log.info({ tenantId, connectionId, sid, version: hello.version }, 'an agent is connected');
    onChanged(tenantId);
    if (isFirst) parts.onReturn(tenantId);
    if (hello.report.outboxDue) parts.onOutbox(tenantId);
  };

  const ended = async (greeted: Greeted): Promise<void> => {
    sent.delete(greeted.sid);
    const one = local.get(greeted);
    if (!one) return;
    local.delete(greeted);
    sessions.remove(one);
    onChanged(one.tenantId);
    if (state !== 'closed') await registry.closed(one);
  };

  const reported = (greeted: Greeted, report: AgentReport): void => {
    const one = local.get(greeted);
    if (!one) return;
    if (report.outboxDue) parts.onOutbox(one.tenantId);
    registry
      .heard(one, report)
      .then(() => onChanged(one.tenantId))
      .catch((error: unknown) => log.warn({ err: error }, 'the report of an agent was not recorded'));
  };

  const upgrades = createUpgrades({
    ...parts,
    accepting: () => state === 'open',
    open: (ws: WebSocket, admitted, stream) =>
      greet(ws, admitted, {
        stream,
        clock,
        log,
        welcome,
        announce: ({ sid, admitted: { connection } }, topic, value) =>
          announced({ sid, tenantId: connection.tenantId, connectionId: connection.id }, topic, value),
        ready,
        ended,
        reported,
        outboxDue: ({ admitted: { connection } }) => parts.onOutbox(connection.tenantId),
      }),
  });

  const closeEnded = async (): Promise<void> => {
    if (sessions.size === 0) return;
    for (const { sid, status } of await registry.ended()) {
      const one = sessions.bySid(sid);
      if (!one) continue;
      onChanged(one.tenantId);
      if (status === 'suspended') one.session.close(CLOSED.cloned, 'clone_suspected');
      else if (status === 'connected') one.session.close(CLOSED.unauthorized, 'another agent has joined');
      else one.session.close(CLOSED.revoked, 'revoked');
    }
  };

  const sendNews = async (tenantIds: readonly string[]): Promise<void> => {
    if (sessions.size === 0 || tenantIds.length === 0) return;
    const keys = await parts.keys.publicKeys();
    const tenants = new Map((await registry.tenants(tenantIds)).map((tenant) => [tenant.id, tenant]));
    for (const one of sessions.all()) {
      const { sid, tenantId, session } = one;
      const before = sent.get(sid);
      const tenant = tenants.get(tenantId);
      if (!before || !tenant) continue;
      const now = { tenant: JSON.stringify(tenant), keys: JSON.stringify(keys) };
      sent.set(sid, now);
      if (now.tenant !== before.tenant) session.notice(TOPICS.tenant, await announced(one, TOPICS.tenant, tenant));
      if (now.keys !== before.keys) session.notice(TOPICS.keys, await announced(one, TOPICS.keys, keys));
    }
  };

  const repeated = createRepeated((error, what) =>
    log.warn({ err: error, what }, 'work on the links to agents failed'),
  );

  /** Whether the agents of all sessions here have one elsewhere, or need none. */
  const haveMoved = async (): Promise<boolean> => {
    for (const tenantId of new Set(sessions.all().map((one) => one.tenantId)))
      if ((await registry.elsewhere(tenantId)).length === 0) return false;
    return true;
  };

  return {
    upgrades,
    start: async () => {
      await registry.alive();
      state = 'open';
      repeated.every(LOOK_MS, 'sessions', closeEnded);
      repeated.every(NEWS_MS, 'news', () => sendNews([...new Set(sessions.all().map(({ tenantId }) => tenantId))]));
      repeated.every(ALIVE_MS, 'replica', registry.alive);
    },
    revoked: (connectionId) => closeAll(connectionId, CLOSED.revoked, 'revoked'),
    tenantChanged: (tenantId) => {
      if (!sessions.of(tenantId)) return;
      Promise.all([closeEnded(), sendNews([tenantId])]).catch((error: unknown) =>
        log.warn({ err: error, tenantId }, 'an agent was not informed of a change'),
      );
    },
    drain: async () => {
      state = 'draining';
      if (sessions.size === 0 || !(await registry.hasPeers())) return;
      for (const { session } of sessions.all())
        void session.goAway({ reconnectAfterMs: spread(sessions.size), timeoutMs: LINK.drainMs });
      const until = performance.now() + MOVE_MS;
      while (performance.now() < until && !(await haveMoved())) await sleep(MOVED_LOOK_MS);
    },
    close: async () => {
      repeated.stop();
      state = 'draining';
      await Promise.all(
        sessions.all().map(async ({ session }) => {
          await session.goAway({ reconnectAfterMs: spread(sessions.size), timeoutMs: CLOSE_MS });
          session.close(1001, 'going away');
        }),
      );
      state = 'closed';
      peers.close();
      await registry.leave();
    },
  };
}

const spread = (agents: number): number => Math.floor(Math.random() * Math.max(LEAST_SPREAD_MS, agents * SPREAD_MS));
const MOVED_LOOK_MS = 100;
/** By now no HTTP request runs: only background work may wait for an agent. */
const CLOSE_MS = 2_000;
