import type { Component } from '../../data-plane-agent/base/link/messages.js';
import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { jsonOrNull, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

/**
 * Of the agent: `pending` until one has joined, then `connected`, whether or not it is online at the moment;
 * `suspended`: its data directory was copied.
 */
export const STORED_STATUSES = ['pending', 'connected', 'revoked', 'suspended', 'declared', 'inactive'] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];
export const ACCESS_MODES = ['outbound', 'direct'] as const;

/**
 * A declared part of a tenant's data plane: the connection to an agent (`agent`), or a component behind it. One of each
 * kind. Times in epoch milliseconds.
 */
export interface ConnectionRecord {
  readonly id: string;
  readonly kind: string;
  readonly provider: string | null;
  readonly location: string | null;
  readonly accessMode: (typeof ACCESS_MODES)[number] | null;
  readonly endpoint: string | null;
  readonly status: StoredStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an agent last reported; all `null` for other kinds and before an agent has joined. */
export interface ReportedState {
  readonly agentVersion: string | null;
  readonly protocolVersion: number | null;
  readonly components: readonly Component[] | null;
  readonly lastSeenAt: number | null;
  /** Not reset if the replica that held the connection ended: compare `lastSeenAt`. */
  readonly connectedSince: number | null;
  readonly latencyMs: number | null;
  readonly statusReason: string | null;
}

export type ListedConnection = ConnectionRecord & ReportedState;

/** A join token as it is stored. */
export interface JoinToken {
  readonly hash: string;
  readonly expiresAt: number;
}

/** The agent of one tenant, for an overview of all. */
export interface JoinedAgent {
  readonly slug: string;
  readonly status: StoredStatus;
  readonly agentVersion: string | null;
  readonly protocolVersion: number | null;
  readonly lastSeenAt: number | null;
}

/** The agents that have joined, those with the oldest protocol first, at most `limit`. */
export async function joinedAgents(tx: Transaction, limit: number): Promise<JoinedAgent[]> {
  const rows = await tx.all(
    `SELECT t.slug, c.status, c.agent_version, c.protocol_version, c.last_seen_at FROM data_plane_connections c JOIN tenants t ON t.id = c.tenant_id
     WHERE c.kind = 'agent' AND c.joined_at IS NOT NULL AND c.status <> 'revoked' ORDER BY c.protocol_version, c.agent_version, t.slug LIMIT ?`,
    [limit],
  );
  return rows.map((row) => ({
    slug: textOf(row, 'slug'),
    status: textOf(row, 'status') as StoredStatus,
    agentVersion: textOrNull(row, 'agent_version'),
    protocolVersion: numberOrNull(row, 'protocol_version'),
    lastSeenAt: numberOrNull(row, 'last_seen_at'),
  }));
}

/** The connections of one tenant, as its administrators declare them. The links of agents are in `linked-connections.ts`. */
export class ConnectionStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** By kind. */
  async all(): Promise<ListedConnection[]> {
    return (
      await this.tx.all(
        `SELECT ${DECLARED_COLUMNS}, ${REPORTED_COLUMNS} FROM data_plane_connections WHERE tenant_id = ? ORDER BY kind`,
        [this.tenantId],
      )
    ).map(listedOf);
  }

  async byKind(kind: string): Promise<ListedConnection | undefined> {
    const row = await this.tx.get(
      `SELECT ${DECLARED_COLUMNS}, ${REPORTED_COLUMNS} FROM data_plane_connections WHERE tenant_id = ? AND kind = ?`,
      [this.tenantId, kind],
    );
    return row && listedOf(row);
  }

  async insert(it: ConnectionRecord, token?: JoinToken): Promise<void> {
    await this.tx.run(
      `INSERT INTO data_plane_connections (tenant_id, ${DECLARED_COLUMNS}, join_token_hash, join_token_expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        this.tenantId,
        it.id,
        it.kind,
        it.provider,
        it.location,
        it.accessMode,
        it.endpoint,
        it.status,
        it.createdAt,
        it.updatedAt,
        token?.hash ?? null,
        token?.expiresAt ?? null,
      ],
    );
  }

  /** Replaces what is declared, and the join token, of the connection of that kind. Keys and reports are kept. */
  async redeclare(it: Omit<ConnectionRecord, 'id' | 'createdAt'>, token: JoinToken): Promise<void> {
    await this.tx.run(
      'UPDATE data_plane_connections SET provider = ?, location = ?, access_mode = ?, endpoint = ?, status = ?, updated_at = ?, join_token_hash = ?, join_token_expires_at = ? WHERE tenant_id = ? AND kind = ?',
      [
        it.provider,
        it.location,
        it.accessMode,
        it.endpoint,
        it.status,
        it.updatedAt,
        token.hash,
        token.expiresAt,
        this.tenantId,
        it.kind,
      ],
    );
  }

  /** Removes the keys and the join token: no agent can connect or join. */
  async revoke({ kind, at }: { kind: string; at: number }): Promise<void> {
    await this.tx.run(
      `UPDATE data_plane_connections SET status = 'revoked', updated_at = ?, ${WITHOUT_AGENT} WHERE tenant_id = ? AND kind = ?`,
      [at, this.tenantId, kind],
    );
  }

  async delete(kind: string): Promise<void> {
    await this.tx.run('DELETE FROM data_plane_connections WHERE tenant_id = ? AND kind = ?', [this.tenantId, kind]);
  }
}

/** `last_seen_at` is kept, to show it. */
const WITHOUT_AGENT = [
  'join_token_hash = NULL',
  'join_token_expires_at = NULL',
  'joined_at = NULL',
  'instance_id = NULL',
  'agent_key = NULL',
  'previous_key = NULL',
  'previous_key_until = NULL',
  'agent_version = NULL',
  'protocol_version = NULL',
  'operations_hash = NULL',
  'schema_version = NULL',
  'components = NULL',
  'boot_id = NULL',
  'sequence = 0',
  'sequence_confirmed = 1',
  'connected_since = NULL',
  'latency_ms = NULL',
  'status_reason = NULL',
].join(', ');

export const DECLARED_COLUMNS = 'id, kind, provider, location, access_mode, endpoint, status, created_at, updated_at';
export const REPORTED_COLUMNS =
  'agent_version, protocol_version, components, last_seen_at, connected_since, latency_ms, status_reason';

export const listedOf = (row: Row): ListedConnection => ({
  id: textOf(row, 'id'),
  kind: textOf(row, 'kind'),
  provider: textOrNull(row, 'provider'),
  location: textOrNull(row, 'location'),
  accessMode: textOrNull(row, 'access_mode') as ConnectionRecord['accessMode'], // the column's closed vocabulary
  endpoint: textOrNull(row, 'endpoint'),
  status: textOf(row, 'status') as StoredStatus,
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
  agentVersion: textOrNull(row, 'agent_version'),
  protocolVersion: numberOrNull(row, 'protocol_version'),
  components: jsonOrNull<readonly Component[]>(row, 'components'),
  lastSeenAt: numberOrNull(row, 'last_seen_at'),
  connectedSince: numberOrNull(row, 'connected_since'),
  latencyMs: numberOrNull(row, 'latency_ms'),
  statusReason: textOrNull(row, 'status_reason'),
});
