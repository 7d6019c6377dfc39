import type { PublicKey } from '../../data-plane-agent/base/link/keys.js';
import type { Component } from '../../data-plane-agent/base/link/messages.js';
import { isOneOf } from '../../data-plane-agent/base/database/fragments.js';
import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import { DECLARED_COLUMNS, listedOf, REPORTED_COLUMNS, type ListedConnection } from './connections.js';
import { flagOf, jsonOrNull, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

/** The public key of an agent, with its thumbprint. */
export interface AgentKey {
  readonly kid: string;
  readonly key: PublicKey;
}

/** The connection of kind `agent` of a tenant, as the link needs it. */
export interface LinkedConnection extends ListedConnection {
  readonly tenantId: string;
  readonly joinedAt: number | null;
  readonly instanceId: string | null;
  readonly agentKey: AgentKey | null;
  /** The key before the last rotation; see `acceptedKeys`. */
  readonly previousKey: AgentKey | null;
  readonly previousKeyUntil: number | null;
  readonly operationsHash: string | null;
  readonly schemaVersion: string | null;
  /** The process that opened the last session. */
  readonly bootId: string | null;
  readonly sequence: number;
  readonly sequenceConfirmed: boolean;
}

type Place = Pick<LinkedConnection, 'tenantId' | 'id'>;

/** Writing that an agent was seen costs a commit, so it is not done for each message. */
export const SEEN_EVERY_MS = 15_000;
/** An agent that was not seen for longer is not connected. */
export const SEEN_WITHIN_MS = 60_000;

/** The keys with which the agent of a connection may sign; none unless it has joined and is neither revoked nor suspended. */
export function acceptedKeys(
  {
    status,
    agentKey,
    previousKey,
    previousKeyUntil,
  }: Pick<LinkedConnection, 'status' | 'agentKey' | 'previousKey' | 'previousKeyUntil'>,
  at: number,
): AgentKey[] {
  if (status !== 'connected' || !agentKey) return [];
  return previousKey && (previousKeyUntil ?? 0) > at ? [agentKey, previousKey] : [agentKey];
}

/**
 * The connections of kind `agent` of all tenants: an agent is known by the id of its connection before its tenant is.
 * Each method that changes one does so in a single conditional statement and returns whether it did.
 */
export class LinkedConnectionStore {
  constructor(private readonly tx: Transaction) {}

  /** The id may be of any form, such as one that an agent sent. */
  async byId(id: string): Promise<LinkedConnection | undefined> {
    return isId(id) ? this.where('id = ?', [id]) : undefined;
  }

  ofTenant(tenantId: string): Promise<LinkedConnection | undefined> {
    return this.where('tenant_id = ?', [tenantId]);
  }

  byTokenHash(hash: string): Promise<(LinkedConnection & { readonly tokenExpiresAt: number | null }) | undefined> {
    return this.where('join_token_hash = ?', [hash]);
  }

  /** Those that exist, such as to find out which of the sessions of a replica belong to a connection that was revoked. */
  async among(ids: readonly string[]): Promise<LinkedConnection[]> {
    const named = isOneOf(this.tx.dialect, 'id', ids);
    return (
      await this.tx.all(
        `SELECT ${COLUMNS} FROM data_plane_connections WHERE kind = 'agent' AND ${named.sql}`,
        named.values,
      )
    ).map(linkedOf);
  }

  /** Joined agents that are called at their endpoint, by id. */
  async direct({ after, limit }: { after: string | null; limit: number }): Promise<LinkedConnection[]> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM data_plane_connections WHERE kind = 'agent' AND status = 'connected' AND access_mode = 'direct'${after === null ? '' : ' AND id > ?'} ORDER BY id LIMIT ?`,
      after === null ? [limit] : [after, limit],
    );
    return rows.map(linkedOf);
  }

  /** Connections to agents that are not revoked, with the slug of their organisation, by slug. */
  async listed({ limit }: { limit: number }): Promise<(LinkedConnection & { readonly slug: string })[]> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS}, slug FROM data_plane_connections JOIN (SELECT id AS tenant, slug FROM tenants) AS named ON tenant = tenant_id WHERE kind = 'agent' AND status NOT IN ('revoked', 'inactive') ORDER BY slug LIMIT ?`,
      [limit],
    );
    return rows.map((row) => ({ ...linkedOf(row), slug: textOf(row, 'slug') }));
  }

  /** Whether any agent has joined. */
  async anyJoined(): Promise<boolean> {
    const row = await this.tx.get(
      "SELECT 1 AS found FROM data_plane_connections WHERE kind = 'agent' AND status = 'connected' LIMIT 1",
    );
    return row !== undefined;
  }

  /**
   * Uses up the join token, whose hash is kept to recognise it when it is used again. Of two agents that join with one
   * token, one does. The key that was valid before is replaced, and the sequence begins anew.
   */
  async join(joined: {
    readonly tokenHash: string;
    readonly at: number;
    readonly instanceId: string;
    readonly key: AgentKey;
    readonly version: string;
    readonly components: readonly Component[];
  }): Promise<boolean> {
    const { tokenHash, at, instanceId, key, version, components } = joined;
    return this.changed(
      `UPDATE data_plane_connections SET join_token_expires_at = NULL, joined_at = ?, instance_id = ?, agent_key = ?, previous_key = NULL, previous_key_until = NULL, agent_version = ?, protocol_version = NULL, operations_hash = NULL, schema_version = NULL, components = ?, boot_id = NULL, sequence = 0, sequence_confirmed = 1, last_seen_at = ?, connected_since = NULL, latency_ms = NULL, status_reason = NULL, status = 'connected', updated_at = ?
       WHERE join_token_hash = ? AND join_token_expires_at > ? AND kind = 'agent' AND status IN ('pending', 'connected', 'suspended')`,
      [at, instanceId, keyText(key), version, JSON.stringify(components), at, at, tokenHash, at],
    );
  }

  /** Makes `next` the key. The present one, which must still be `current`, remains valid until `oldKeyUntil`. */
  rotateKey({
    current,
    next,
    oldKeyUntil,
    at,
    ...place
  }: Place & {
    readonly current: AgentKey;
    readonly next: AgentKey;
    readonly oldKeyUntil: number;
    readonly at: number;
  }): Promise<boolean> {
    return this.changed(
      "UPDATE data_plane_connections SET previous_key = agent_key, previous_key_until = ?, agent_key = ?, updated_at = ? WHERE tenant_id = ? AND id = ? AND status = 'connected' AND agent_key = ?",
      [oldKeyUntil, keyText(next), at, place.tenantId, place.id, keyText(current)],
    );
  }

  /** Replaces the key with which no session was opened yet; the previous one remains valid until the same end. */
  replaceUnusedKey({
    previous,
    next,
    at,
    ...place
  }: Place & { readonly previous: AgentKey; readonly next: AgentKey; readonly at: number }): Promise<boolean> {
    return this.changed(
      "UPDATE data_plane_connections SET agent_key = ?, updated_at = ? WHERE tenant_id = ? AND id = ? AND status = 'connected' AND previous_key = ? AND previous_key_until > ?",
      [keyText(next), at, place.tenantId, place.id, keyText(previous), at],
    );
  }

  /**
   * Records the sequence number of a new session: the next one, or the last one again while the agent has not confirmed
   * it. False for any other: the agent's data directory was copied.
   */
  takeSequence({ tenantId, id, sequence }: Place & { readonly sequence: number }): Promise<boolean> {
    return this.changed(
      "UPDATE data_plane_connections SET sequence = ?, sequence_confirmed = 0 WHERE tenant_id = ? AND id = ? AND status = 'connected' AND (sequence = ? OR (sequence = ? AND sequence_confirmed = 0))",
      [sequence, tenantId, id, sequence - 1, sequence],
    );
  }

  /** The agent has stored the number as used. Without effect once a later session has begun. */
  confirmSequence({ tenantId, id, sequence }: Place & { readonly sequence: number }): Promise<boolean> {
    return this.changed(
      'UPDATE data_plane_connections SET sequence_confirmed = 1 WHERE tenant_id = ? AND id = ? AND sequence = ?',
      [tenantId, id, sequence],
    );
  }

  /**
   * Records a session that was opened with `key`, with what the agent said of itself. The first session on a new key
   * ends the previous key. False if the connection or the key is no longer valid.
   */
  connected({
    tenantId,
    id,
    key,
    at,
    ...agent
  }: Place & {
    readonly key: AgentKey;
    readonly at: number;
    readonly bootId: string;
    readonly version: string;
    readonly protocol: number;
    readonly operations: string;
    readonly schema: string;
    readonly components: readonly Component[];
  }): Promise<boolean> {
    const text = keyText(key);
    return this.changed(
      `UPDATE data_plane_connections SET boot_id = ?, agent_version = ?, protocol_version = ?, operations_hash = ?, schema_version = ?, components = ?,
       previous_key = CASE WHEN agent_key = ? THEN NULL ELSE previous_key END, previous_key_until = CASE WHEN agent_key = ? THEN NULL ELSE previous_key_until END,
       connected_since = CASE WHEN connected_since IS NULL OR last_seen_at < ? THEN ? ELSE connected_since END, last_seen_at = ?, status_reason = NULL
       WHERE tenant_id = ? AND id = ? AND status = 'connected' AND (agent_key = ? OR (previous_key = ? AND previous_key_until > ?))`,
      [
        agent.bootId,
        agent.version,
        agent.protocol,
        agent.operations,
        agent.schema,
        JSON.stringify(agent.components),
        text,
        text,
        at - SEEN_WITHIN_MS,
        at,
        at,
        tenantId,
        id,
        text,
        text,
        at,
      ],
    );
  }

  /**
   * Records that the agent was heard of, at most every 15 seconds unless its components have changed. False also if
   * nothing was due.
   */
  seen({
    tenantId,
    id,
    at,
    latencyMs,
    components,
  }: Place & {
    readonly at: number;
    readonly latencyMs: number | null;
    readonly components: readonly Component[];
  }): Promise<boolean> {
    const reported = JSON.stringify(components);
    return this.changed(
      "UPDATE data_plane_connections SET last_seen_at = ?, latency_ms = ?, components = ? WHERE tenant_id = ? AND id = ? AND status = 'connected' AND (last_seen_at IS NULL OR last_seen_at <= ? OR components IS NULL OR components <> ?)",
      [at, latencyMs, reported, tenantId, id, at - SEEN_EVERY_MS, reported],
    );
  }

  /** Records that a session ended, after its row was deleted from `link_sessions`. False if others remain. */
  disconnected({ tenantId, id }: Place): Promise<boolean> {
    return this.changed(
      'UPDATE data_plane_connections SET connected_since = NULL, latency_ms = NULL WHERE tenant_id = ? AND id = ? AND NOT EXISTS (SELECT 1 FROM link_sessions s WHERE s.tenant_id = ? AND s.connection_id = ?)',
      [tenantId, id, tenantId, id],
    );
  }

  /** Refuses the agent until one joins with a new token. `reason` is a sentence for administrators. */
  suspend({ tenantId, id, reason, at }: Place & { readonly reason: string; readonly at: number }): Promise<boolean> {
    return this.changed(
      "UPDATE data_plane_connections SET status = 'suspended', status_reason = ?, connected_since = NULL, latency_ms = NULL, updated_at = ? WHERE tenant_id = ? AND id = ? AND status = 'connected'",
      [reason, at, tenantId, id],
    );
  }

  private async where(
    condition: 'id = ?' | 'tenant_id = ?' | 'join_token_hash = ?',
    values: readonly string[],
  ): Promise<(LinkedConnection & { readonly tokenExpiresAt: number | null }) | undefined> {
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM data_plane_connections WHERE kind = 'agent' AND ${condition}`,
      values,
    );
    return row && { ...linkedOf(row), tokenExpiresAt: numberOrNull(row, 'join_token_expires_at') };
  }

  private async changed(sql: string, values: readonly (string | number | null)[]): Promise<boolean> {
    return (await this.tx.run(sql, values)) === 1;
  }
}

const COLUMNS = `tenant_id, ${DECLARED_COLUMNS}, ${REPORTED_COLUMNS}, join_token_expires_at, joined_at, instance_id, agent_key, previous_key, previous_key_until, operations_hash, schema_version, boot_id, sequence, sequence_confirmed`;

/** The same text for the same key: keys are compared in statements. */
const keyText = ({ kid, key: { kty, crv, x } }: AgentKey): string => JSON.stringify({ kid, key: { kty, crv, x } });

const linkedOf = (row: Row): LinkedConnection => ({
  ...listedOf(row),
  tenantId: textOf(row, 'tenant_id'),
  joinedAt: numberOrNull(row, 'joined_at'),
  instanceId: textOrNull(row, 'instance_id'),
  agentKey: jsonOrNull<AgentKey>(row, 'agent_key'),
  previousKey: jsonOrNull<AgentKey>(row, 'previous_key'),
  previousKeyUntil: numberOrNull(row, 'previous_key_until'),
  operationsHash: textOrNull(row, 'operations_hash'),
  schemaVersion: textOrNull(row, 'schema_version'),
  bootId: textOrNull(row, 'boot_id'),
  sequence: numberOf(row, 'sequence'),
  sequenceConfirmed: flagOf(row, 'sequence_confirmed'),
});
