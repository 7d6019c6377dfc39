import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/**
 * Connections of organisations to an external calendar, connections that are being made, and the events that were
 * pushed. An event has the id of its payment line and a keyed digest of its text, and no contract data.
 */
export const calendar: Migration = {
  id: '0015-calendar',
  statements: (t) => [
    `CREATE TABLE calendar_flows (
      state_hash ${t.text} NOT NULL PRIMARY KEY, tenant_id ${t.id} NOT NULL REFERENCES tenants (id), provider ${t.text} NOT NULL, member_id ${t.id} NOT NULL, session_id ${t.id} NOT NULL,
      browser_hash ${t.text} NOT NULL, secrets_sealed ${t.text} NOT NULL, next ${t.text} NOT NULL, asker ${t.text} NOT NULL, expires_at ${t.big} NOT NULL, created_at ${t.big} NOT NULL,
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX calendar_flows_by_expiry ON calendar_flows (expires_at)',
    'CREATE INDEX calendar_flows_by_asker ON calendar_flows (asker, expires_at, state_hash)',

    `CREATE TABLE calendar_connections (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), id ${t.id} NOT NULL, provider ${t.text} NOT NULL, client_id ${t.text} NOT NULL, account ${t.text}, member_id ${t.id} NOT NULL, state ${t.text} NOT NULL,
      refresh_sealed ${t.text}, access_sealed ${t.text}, access_expires_at ${t.big}, settled ${t.int} NOT NULL, last_sync_at ${t.big}, last_error ${t.text}, next_at ${t.big} NOT NULL, attempts ${t.int} NOT NULL,
      run_token ${t.text}, run_until ${t.big}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    "CREATE UNIQUE INDEX calendar_one_connection ON calendar_connections (tenant_id) WHERE state <> 'ending'",
    'CREATE INDEX calendar_connections_due ON calendar_connections (state, next_at)',

    `CREATE TABLE calendar_events (
      tenant_id ${t.id} NOT NULL, connection_id ${t.id} NOT NULL, line_id ${t.id} NOT NULL, event_id ${t.text} NOT NULL, digest ${t.text} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, connection_id, line_id),
      FOREIGN KEY (tenant_id, connection_id) REFERENCES calendar_connections (tenant_id, id))`,
  ],
};
