import type { Component } from '../../data-plane-agent/base/link/messages.js';
import type { ListedConnection } from '../store/connections.js';
import { SEEN_WITHIN_MS } from '../store/linked-connections.js';
import { COMPONENT_KINDS, mismatches } from './declarations.js';

/** The connection to an agent; the other kinds are components behind it, or notes. */
export const AGENT = 'agent';

export const CONNECTION_STATUSES = [
  'pending',
  'connected',
  'disconnected',
  'mismatch',
  'revoked',
  'suspended',
  'declared',
  'inactive',
] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** The status of a connection as it is shown. */
export function statusOf(
  connection: Pick<ListedConnection, 'kind' | 'provider' | 'location' | 'status' | 'lastSeenAt' | 'connectedSince'>,
  {
    linked,
    at,
    components,
  }: {
    /** Whether agents store the contract data; otherwise connections have no effect. */
    readonly linked: boolean;
    readonly at: number;
    /** What the tenant's agent last reported; `null` if none has joined. */
    readonly components: readonly Component[] | null;
  },
): ConnectionStatus {
  const { kind, status } = connection;
  if (!linked) return 'inactive';
  if (kind === AGENT) {
    if (status === 'connected') return isLive(connection, at) ? 'connected' : 'disconnected';
    return status === 'revoked' || status === 'suspended' ? status : 'pending';
  }
  if (!COMPONENT_KINDS.has(kind)) return 'declared';
  if (components === null) return 'pending';
  return mismatches([connection], components).length === 0 ? 'connected' : 'mismatch';
}

/** Whether the agent has a session and was heard of within a minute. */
const isLive = ({ lastSeenAt, connectedSince }: Pick<ListedConnection, 'lastSeenAt' | 'connectedSince'>, at: number) =>
  connectedSince !== null && lastSeenAt !== null && at - lastSeenAt <= SEEN_WITHIN_MS;
