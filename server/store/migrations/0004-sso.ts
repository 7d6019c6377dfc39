import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Sign-ins at providers that are under way, who is whom there, and codes to be exchanged for tokens. */
export const sso: Migration = {
  id: '0004-sso',
  statements: (t) => [
    `CREATE TABLE sso_flows (
      state_hash ${t.text} NOT NULL PRIMARY KEY, tenant_id ${t.id} NOT NULL REFERENCES tenants (id), provider_id ${t.text} NOT NULL, browser_hash ${t.text} NOT NULL, secrets_sealed ${t.text} NOT NULL,
      next ${t.text} NOT NULL, expires_at ${t.big} NOT NULL, created_at ${t.big} NOT NULL)`,
    'CREATE INDEX sso_flows_by_expiry ON sso_flows (expires_at)',
    `CREATE TABLE sso_identities (
      tenant_id ${t.id} NOT NULL, issuer ${t.text} NOT NULL, subject ${t.text} NOT NULL, member_id ${t.id} NOT NULL, created_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, issuer, subject), UNIQUE (tenant_id, member_id, issuer),
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    `CREATE TABLE sso_codes (
      code_hash ${t.text} NOT NULL PRIMARY KEY, tenant_id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, expires_at ${t.big} NOT NULL, used_at ${t.big}, session_id ${t.id},
      created_at ${t.big} NOT NULL,
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX sso_codes_by_expiry ON sso_codes (expires_at)',
  ],
};
