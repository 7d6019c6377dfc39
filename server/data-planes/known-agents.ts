import type { Database } from '../../data-plane-agent/base/database/database.js';
import { LinkedConnectionStore, type LinkedConnection } from '../store/linked-connections.js';
import { LinkSessionStore } from '../store/link-sessions.js';

/** The connection to the agent of an organisation. */
export type KnownAgent = LinkedConnection & { readonly slug: string };

/**
 * The agents that were invited and not revoked, by slug, and whether a server of this installation runs at `at` (epoch
 * milliseconds), through which those are reached that connect outbound.
 */
export const knownAgents = (
  database: Pick<Database, 'read'>,
  { at, limit }: { readonly at: number; readonly limit: number },
): Promise<{ readonly agents: readonly KnownAgent[]; readonly served: boolean }> =>
  database.read({ tenantId: null }, async (tx) => ({
    agents: await new LinkedConnectionStore(tx).listed({ limit }),
    served: await new LinkSessionStore(tx).anyReplica(at),
  }));
