import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import type { PublicKey } from '../../../data-plane-agent/base/link/keys.js';
import { PROTOCOLS } from '../../../data-plane-agent/base/link/limits.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import { operationsHash } from '../../../data-plane-agent/plane/operations/hash.js';
import { LinkedConnectionStore, SEEN_WITHIN_MS, type LinkedConnection } from '../../store/linked-connections.js';
import { TenantStore } from '../../store/tenants.js';
import { linkedTenant } from '../linked-tenant.js';
import { agreed } from './agreed-protocol.js';
import type { Direct } from './direct.js';

/** Agents that are called at their endpoint: they are greeted at intervals, which is their heartbeat. */
export interface DirectAgents {
  /** Greets an agent. The id of its process; `undefined` if it does not answer. */
  greet(connection: LinkedConnection): Promise<string | undefined>;
  /** Greets all of them, a few at a time. */
  poll(signal: AbortSignal): Promise<void>;
}

export interface DirectAgentsParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly direct: Pick<Direct, 'hello'>;
  readonly publicKeys: () => Promise<readonly PublicKey[]>;
  readonly version: string;
  readonly onChanged: (tenantId: string) => void;
  readonly onOutbox: (tenantId: string) => void;
  readonly onReturn: (tenantId: string) => void;
}

const AT_ONCE = 8;
const BATCH = 200;
const MOST_REASONS = 1_000;

export function createDirectAgents(parts: DirectAgentsParts): DirectAgents {
  const { database, clock, log, direct } = parts;
  const scope = { tenantId: null };
  const greeting = new Map<string, Promise<string | undefined>>();
  /** Why each agent did not answer the last time, so that the log has a warning for each new reason only. */
  const reasons = new LRUCache<string, string>({ max: MOST_REASONS });

  const exchange = async (connection: LinkedConnection): Promise<string | undefined> => {
    const { tenantId, id } = connection;
    const tenant = await database.read(scope, (tx) => new TenantStore(tx).byId(tenantId));
    if (!tenant) return undefined;
    const began = performance.now();
    const { hello, key } = await direct.hello(connection, {
      protocol: PROTOCOLS.max,
      version: parts.version,
      operations: operationsHash(),
      serverTime: clock.now(),
      tenant: linkedTenant(tenant),
      keys: [...(await parts.publicKeys())],
      connections: 1,
    });
    const latencyMs = Math.round(performance.now() - began);
    const { protocol, refusal } = agreed(hello, PROTOCOLS);
    if (protocol === undefined || hello.instanceId !== connection.instanceId) {
      const reason = refusal ?? 'another installation of an agent answers there';
      log.warn({ tenantId, connectionId: id, reason }, 'the agent at an endpoint is not compatible');
      return undefined;
    }
    const at = clock.now();
    const isBack =
      connection.bootId !== hello.bootId ||
      connection.connectedSince === null ||
      connection.protocolVersion !== protocol ||
      at - (connection.lastSeenAt ?? 0) > SEEN_WITHIN_MS;
    await database.write(scope, async (tx) => {
      const store = new LinkedConnectionStore(tx);
      const { components } = hello.report;
      if (isBack) await store.connected({ tenantId, id, key, at, protocol, components, ...hello });
      await store.seen({ tenantId, id, at, latencyMs, components });
    });
    if (isBack) {
      parts.onChanged(tenantId);
      parts.onReturn(tenantId);
    }
    if (hello.report.outboxDue) parts.onOutbox(tenantId);
    return hello.bootId;
  };

  /** Callers at the same time share one request. */
  const greet = (connection: LinkedConnection): Promise<string | undefined> => {
    const { id, tenantId } = connection;
    const running = greeting.get(id);
    if (running) return running;
    const begun = exchange(connection)
      .then((bootId) => {
        reasons.delete(id);
        return bootId;
      })
      .catch((error: unknown) => {
        const reason = String(error);
        const level = reasons.get(id) === reason ? 'debug' : 'warn';
        reasons.set(id, reason);
        log[level]({ err: error, tenantId, connectionId: id }, 'an agent did not answer at its endpoint');
        return undefined;
      })
      .finally(() => greeting.delete(id));
    greeting.set(id, begun);
    return begun;
  };

  return {
    greet,
    poll: async (signal) => {
      for (let after: string | null = null; !signal.aborted;) {
        const from: string | null = after;
        const found: readonly LinkedConnection[] = await database.read(scope, (tx) =>
          new LinkedConnectionStore(tx).direct({ after: from, limit: BATCH }),
        );
        const waiting = found.values();
        const worker = async (): Promise<void> => {
          for (let next = waiting.next(); next.done !== true && !signal.aborted; next = waiting.next())
            await greet(next.value);
        };
        await Promise.all(Array.from({ length: AT_ONCE }, worker));
        after = found.at(-1)?.id ?? null;
        if (found.length < BATCH) return;
      }
    },
  };
}
