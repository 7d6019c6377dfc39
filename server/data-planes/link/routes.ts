import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { PROTOCOLS } from '../../../data-plane-agent/base/link/limits.js';
import type { LinkSessionRecord } from '../../store/link-sessions.js';
import type { LinkedConnection } from '../../store/linked-connections.js';
import type { Direct } from './direct.js';
import { factsOf, sendOn, type LocalSession, type LocalSessions } from './local-sessions.js';
import type { Peers } from './peers.js';
import type { Registry } from './registry.js';
import type { AgentRoute } from './transport.js';

/** Finds a way to a tenant's agent. */
export interface Routes {
  /**
   * `undefined` if the agent has no session. If it had one a moment ago, it is probably connecting again: then this waits
   * for it, but not for long.
   */
  to(connection: LinkedConnection, signal: AbortSignal): Promise<AgentRoute | undefined>;
  /** Forgets what is known of sessions at other replicas. */
  changed(tenantId: string): void;
}

export interface RoutesParts {
  readonly controlPlane: string;
  readonly sessions: Pick<LocalSessions, 'of' | 'draining'>;
  readonly registry: Pick<Registry, 'elsewhere'>;
  readonly peers: Pick<Peers, 'send'>;
  readonly direct: Pick<Direct, 'send'>;
  /** Greets an agent that is called directly, for the id of its process. */
  readonly greet: (connection: LinkedConnection) => Promise<string | undefined>;
}

/** How long sessions of other replicas are cached. */
const FRESH_MS = 1_000;
const MOST = 10_000;
/** An agent that was reachable within this time is waited for. */
const RECENT_MS = 5_000;
const WAIT_MS = 2_000;
const LOOK_MS = 50;

export function createRoutes({ controlPlane, sessions, registry, peers, direct, greet }: RoutesParts): Routes {
  const elsewhere = new LRUCache<string, readonly LinkSessionRecord[]>({ max: MOST, ttl: FRESH_MS });
  /** When a tenant's agent last had a session. */
  const reachableAt = new LRUCache<string, number>({ max: MOST });

  const remote = async (tenantId: string): Promise<readonly LinkSessionRecord[]> => {
    const known = elsewhere.get(tenantId);
    if (known) return known;
    const found = await registry.elsewhere(tenantId);
    if (found.length > 0) elsewhere.set(tenantId, found);
    return found;
  };

  const onSession = (session: LocalSession): AgentRoute => ({
    protocol: session.protocol,
    facts: factsOf(session, controlPlane),
    send: (message, options) => sendOn(session, message, options),
  });

  const outbound = async (connection: LinkedConnection): Promise<AgentRoute | undefined> => {
    const { id: connectionId, tenantId } = connection;
    const local = sessions.of(tenantId);
    if (local) return onSession(local);
    const [held] = (await remote(tenantId)).filter((session) => session.connectionId === connectionId);
    if (held)
      return {
        protocol: protocolOf(connection),
        facts: factsOf({ tenantId, connectionId, sid: held.sid }, controlPlane),
        send: async (message, options) => {
          try {
            return await peers.send(held, message, options);
          } catch (error) {
            elsewhere.delete(tenantId);
            throw error;
          }
        },
      };
    const draining = sessions.draining(tenantId);
    return draining && onSession(draining);
  };

  const called = async (connection: LinkedConnection): Promise<AgentRoute | undefined> => {
    const session = connection.bootId ?? (await greet(connection));
    if (session === undefined) return undefined;
    const { id: connectionId, tenantId } = connection;
    return {
      protocol: protocolOf(connection),
      facts: { controlPlane, connectionId, tenantId, session },
      send: (message, options) => direct.send(connection, message, options),
    };
  };

  return {
    to: async (connection, signal) => {
      if (connection.accessMode === 'direct') return called(connection);
      const { tenantId } = connection;
      const until = performance.now() + WAIT_MS;
      for (;;) {
        const route = await outbound(connection);
        const now = performance.now();
        if (route) reachableAt.set(tenantId, now);
        const isRecent = now - (reachableAt.get(tenantId) ?? -Infinity) < RECENT_MS;
        if (route || !isRecent || now >= until || signal.aborted) return route;
        await sleep(LOOK_MS);
      }
    },
    changed: (tenantId) => void elsewhere.delete(tenantId),
  };
}

/**
 * What was agreed with the agent by the replica that greeted it last, which may be newer than this one. Agents answer in
 * each version that they speak, whatever was agreed in their session.
 */
const protocolOf = ({ protocolVersion }: LinkedConnection): number =>
  Math.min(protocolVersion ?? PROTOCOLS.max, PROTOCOLS.max);
