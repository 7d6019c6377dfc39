import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/**
 * Connections to agents: the join token and the keys of each, what it last reported, and which replica holds its
 * sessions. `link_keys` sign requests to agents. `link_replicas` are the running processes of the control plane.
 */
export const links: Migration = {
  id: '0017-links',
  statements: (t) => [
    ...[
      `join_token_hash ${t.text}`,
      `join_token_expires_at ${t.big}`,
      `joined_at ${t.big}`,
      `instance_id ${t.id}`,
      `agent_key ${t.text}`,
      `previous_key ${t.text}`,
      `previous_key_until ${t.big}`,
      `agent_version ${t.text}`,
      `protocol_version ${t.int}`,
      `operations_hash ${t.text}`,
      `schema_version ${t.text}`,
      `components ${t.text}`,
      `boot_id ${t.id}`,
      `sequence ${t.big} NOT NULL DEFAULT 0`,
      `sequence_confirmed ${t.int} NOT NULL DEFAULT 1`,
      `last_seen_at ${t.big}`,
      `connected_since ${t.big}`,
      `latency_ms ${t.int}`,
      `status_reason ${t.text}`,
    ].map((column) => `ALTER TABLE data_plane_connections ADD COLUMN ${column}`),
    'CREATE UNIQUE INDEX connections_by_join_token ON data_plane_connections (join_token_hash)',
    'CREATE UNIQUE INDEX connections_by_id ON data_plane_connections (id)',

    `CREATE TABLE link_keys (
      kid ${t.text} NOT NULL PRIMARY KEY, status ${t.text} NOT NULL, public_jwk ${t.text} NOT NULL, private_sealed ${t.text} NOT NULL, created_at ${t.big} NOT NULL, verify_until ${t.big})`,
    "CREATE UNIQUE INDEX link_keys_one_active ON link_keys (status) WHERE status = 'active'",

    `CREATE TABLE link_sessions (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), sid ${t.id} NOT NULL, connection_id ${t.id} NOT NULL, boot_id ${t.id} NOT NULL, holder ${t.id} NOT NULL, peer_url ${t.text} NOT NULL,
      opened_at ${t.big} NOT NULL, heard_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, sid))`,
    'CREATE INDEX link_sessions_by_holder ON link_sessions (holder)',

    `CREATE TABLE link_replicas (holder ${t.id} NOT NULL PRIMARY KEY, peer_url ${t.text} NOT NULL, heard_at ${t.big} NOT NULL)`,

    `CREATE TABLE link_tokens_used (jti ${t.id} NOT NULL PRIMARY KEY, expires_at ${t.big} NOT NULL)`,
    'CREATE INDEX link_tokens_used_by_expiry ON link_tokens_used (expires_at)',
  ],
};
