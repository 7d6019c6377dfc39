import type { Database } from '../../data-plane-agent/base/database/database.js';
import { joinedAgents, type JoinedAgent } from '../store/connections.js';

export type { JoinedAgent };

/** The agents of all tenants that have joined, those with the oldest protocol first, at most `limit`. */
export const agentsOverview = (
  { database }: { readonly database: Pick<Database, 'read'> },
  limit: number,
): Promise<JoinedAgent[]> => database.read({ tenantId: null }, (tx) => joinedAgents(tx, limit));
