import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Authenticators, secrets that were offered, recovery codes and codes by mail; the way from an email to its organisations. */
export const mfa: Migration = {
  id: '0002-mfa',
  statements: (t) => [
    `CREATE TABLE mfa_totp (
      tenant_id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, secret_sealed ${t.text} NOT NULL, last_step ${t.big} NOT NULL, enrolled_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, member_id),
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    `CREATE TABLE mfa_offered_secrets (
      tenant_id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, secret_hash ${t.text} NOT NULL, offered_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, member_id, secret_hash),
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    `CREATE TABLE mfa_recovery_codes (
      tenant_id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, code_hash ${t.text} NOT NULL,
      PRIMARY KEY (tenant_id, member_id, code_hash),
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    `CREATE TABLE login_codes (
      tenant_id ${t.id} NOT NULL, member_id ${t.id} NOT NULL, code_sealed ${t.text}, tries ${t.int} NOT NULL, sent_at ${t.big} NOT NULL, sends ${t.text} NOT NULL,
      PRIMARY KEY (tenant_id, member_id),
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX members_by_email ON members (email)',
  ],
};
