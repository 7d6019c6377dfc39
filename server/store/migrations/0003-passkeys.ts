import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Passkeys of members, and the flows in which one is registered or signs somebody in. */
export const passkeys: Migration = {
  id: '0003-passkeys',
  statements: (t) => [
    // A credential's id is unique in its account only: whoever registers one that he saw elsewhere must not learn whether it is real.
    `CREATE TABLE passkeys (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, credential_id ${t.text} NOT NULL, public_key ${t.text} NOT NULL, counter ${t.big} NOT NULL,
      transports ${t.text} NOT NULL, synced ${t.int} NOT NULL, backed_up ${t.int} NOT NULL, label ${t.text}, created_at ${t.big} NOT NULL, last_used_at ${t.big},
      PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, member_id, credential_id),
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,

    // A sign-in that named nobody has a flow without a member.
    `CREATE TABLE passkey_flows (
      flow_hash ${t.text} NOT NULL PRIMARY KEY, kind ${t.text} NOT NULL, challenge_hash ${t.text} NOT NULL, tenant_id ${t.id}, member_id ${t.id}, session_id ${t.id}, expires_at ${t.big} NOT NULL,
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX passkey_flows_by_session ON passkey_flows (session_id)',
    'CREATE INDEX passkey_flows_by_expiry ON passkey_flows (expires_at)',
  ],
};
