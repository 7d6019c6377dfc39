import { LRUCache } from 'lru-cache';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { ConnectionStore } from '../../store/connections.js';
import { LinkedConnectionStore, type LinkedConnection } from '../../store/linked-connections.js';
import { AGENT } from '../connection-status.js';
import { mismatches, type Mismatch } from '../declarations.js';

/** What is known of a tenant's agent. */
export interface AgentState {
  /** Undefined unless one has joined and is neither revoked nor suspended. */
  readonly connection: LinkedConnection | undefined;
  /** Where declarations differ from what the agent reported. */
  readonly mismatches: readonly Mismatch[];
}

/** The states of tenants' agents, cached for a moment: each operation needs one. */
export interface AgentStates {
  of(tenantId: string): Promise<AgentState>;
  /** Forgets what this process has changed; changes of others are noticed within a second. */
  changed(tenantId: string): void;
}

const FRESH_MS = 1_000;
const MOST = 10_000;

export function createAgentStates({
  database,
  linked,
}: {
  readonly database: Pick<Database, 'read'>;
  /** Whether the edition has agents: in others declarations have no effect. */
  readonly linked: boolean;
}): AgentStates {
  // Uses the real time, which a test clock does not change.
  const cached = new LRUCache<string, Promise<AgentState>>({ max: MOST, ttl: FRESH_MS });
  const read = (tenantId: string): Promise<AgentState> =>
    database.read({ tenantId: null }, async (tx) => {
      const connection = await new LinkedConnectionStore(tx).ofTenant(tenantId);
      if (connection?.status !== 'connected') return { connection: undefined, mismatches: [] };
      if (!linked) return { connection, mismatches: [] };
      const declared = await new ConnectionStore(tx, tenantId).all();
      const others = declared.filter(({ kind }) => kind !== AGENT);
      return { connection, mismatches: mismatches(others, connection.components ?? []) };
    });
  return {
    of: (tenantId) => {
      const known = cached.get(tenantId);
      if (known) return known;
      const reading = read(tenantId);
      cached.set(tenantId, reading);
      // An agent that joins is noticed at once, and so is a database that is back.
      const forget = (): void => {
        if (cached.peek(tenantId) === reading) cached.delete(tenantId);
      };
      reading.then(({ connection }) => connection ?? forget(), forget);
      return reading;
    },
    changed: (tenantId) => void cached.delete(tenantId),
  };
}
