import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Notification channels and data-plane connections; idempotency records of the form that the data plane keeps; one owner to a tenant. */
export const tenantAdmin: Migration = {
  id: '0006-tenant-admin',
  statements: (t) => [
    // Nothing has been kept in it so far.
    'DROP TABLE idempotency_records',
    `CREATE TABLE idempotency_records (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), key ${t.text} NOT NULL, operation ${t.text} NOT NULL, request_hash ${t.text} NOT NULL, answer ${t.text} NOT NULL, expires_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, key))`,
    'CREATE INDEX idempotency_by_expiry ON idempotency_records (expires_at)',

    "CREATE UNIQUE INDEX members_one_owner ON members (tenant_id) WHERE role_code = 'owner'",

    `CREATE TABLE notification_channels (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), id ${t.id} NOT NULL, kind ${t.text} NOT NULL, name ${t.text} NOT NULL, target ${t.text}, enabled ${t.int} NOT NULL, is_default ${t.int} NOT NULL,
      secret_sealed ${t.text}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    'CREATE UNIQUE INDEX channels_one_default ON notification_channels (tenant_id) WHERE is_default = 1',

    `CREATE TABLE data_plane_connections (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), kind ${t.text} NOT NULL, id ${t.id} NOT NULL, provider ${t.text}, location ${t.text}, access_mode ${t.text}, endpoint ${t.text}, status ${t.text} NOT NULL,
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, kind))`,
  ],
};
