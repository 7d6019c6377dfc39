import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Tenants with their roles, subject companies and members; sessions and signing keys; redeem codes; login failures; audit; idempotency. */
export const platform: Migration = {
  id: '0001-platform',
  statements: (t) => [
    `CREATE TABLE tenants (
      id ${t.id} NOT NULL PRIMARY KEY, slug ${t.text} NOT NULL UNIQUE, name ${t.text} NOT NULL, plan_code ${t.text} NOT NULL, status ${t.text} NOT NULL, settings ${t.text} NOT NULL,
      directory_version ${t.big} NOT NULL, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL)`,
    `CREATE TABLE roles (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), code ${t.text} NOT NULL, name ${t.text} NOT NULL, built_in ${t.int} NOT NULL, position ${t.int} NOT NULL,
      permissions ${t.text} NOT NULL, workflow_controls ${t.text} NOT NULL, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, code))`,
    `CREATE TABLE subjects (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), id ${t.id} NOT NULL, name ${t.text} NOT NULL, legal_name ${t.text}, tax_no ${t.text}, default_payee_account ${t.text}, default_payee_bank ${t.text},
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id))`,
    `CREATE TABLE members (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, email ${t.text} NOT NULL, name ${t.text} NOT NULL, name_profile ${t.text}, status ${t.text} NOT NULL, role_code ${t.text} NOT NULL, subject_scope ${t.text},
      preferences ${t.text} NOT NULL, password_hash ${t.text}, last_login_at ${t.big}, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, email),
      FOREIGN KEY (tenant_id, role_code) REFERENCES roles (tenant_id, code))`,

    `CREATE TABLE sessions (
      id ${t.id} NOT NULL PRIMARY KEY, tenant_id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, generation ${t.int} NOT NULL, rotated_at ${t.big} NOT NULL,
      idle_expires_at ${t.big} NOT NULL, absolute_expires_at ${t.big} NOT NULL, own_pages ${t.int} NOT NULL, ip ${t.text}, user_agent ${t.text}, created_at ${t.big} NOT NULL, revoked_at ${t.big},
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX sessions_by_member ON sessions (tenant_id, member_id)',
    'CREATE INDEX sessions_by_expiry ON sessions (idle_expires_at)',
    `CREATE TABLE signing_keys (
      kid ${t.text} NOT NULL PRIMARY KEY, status ${t.text} NOT NULL, public_jwk ${t.text} NOT NULL, private_sealed ${t.text} NOT NULL, created_at ${t.big} NOT NULL, verify_until ${t.big})`,
    "CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (status) WHERE status = 'active'",
    `CREATE TABLE redeem_codes (
      id ${t.id} NOT NULL PRIMARY KEY, code_hash ${t.text} NOT NULL UNIQUE, plan_code ${t.text} NOT NULL, created_at ${t.big} NOT NULL, expires_at ${t.big}, revoked_at ${t.big},
      used_at ${t.big}, used_by_tenant_id ${t.id} REFERENCES tenants (id))`,
    `CREATE TABLE login_failures (key ${t.text} NOT NULL PRIMARY KEY, failures ${t.int} NOT NULL, locked_until ${t.big} NOT NULL, expires_at ${t.big} NOT NULL)`,
    'CREATE INDEX login_failures_by_expiry ON login_failures (expires_at)',

    `CREATE TABLE audit_log (
      id ${t.id} NOT NULL PRIMARY KEY, tenant_id ${t.id}, at ${t.big} NOT NULL, actor_kind ${t.text} NOT NULL, actor_id ${t.id}, actor_name ${t.text} NOT NULL, ip ${t.text}, request_id ${t.text} NOT NULL,
      action ${t.text} NOT NULL, record_kind ${t.text} NOT NULL, record_id ${t.text}, changes ${t.text} NOT NULL)`,
    'CREATE INDEX audit_by_tenant ON audit_log (tenant_id, id)',
    `CREATE TABLE idempotency_records (
      tenant_id ${t.id} NOT NULL REFERENCES tenants (id), key ${t.text} NOT NULL, request_hash ${t.text} NOT NULL, status ${t.int}, answer_sealed ${t.text}, expires_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, key))`,
    'CREATE INDEX idempotency_by_expiry ON idempotency_records (expires_at)',
  ],
};
