import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';

/** Mail on its way, leases of work that one process does at a time, invitations, and live password resets. */
export const mailInvitations: Migration = {
  id: '0005-mail-invitations',
  statements: (t) => [
    `CREATE TABLE leases (name ${t.text} NOT NULL PRIMARY KEY, holder ${t.text} NOT NULL, fence ${t.big} NOT NULL, until ${t.big} NOT NULL)`,

    // No tenant where the mail stands for one to nobody, so that asking about strangers costs what asking about members does.
    `CREATE TABLE mail_outbox (
      id ${t.id} NOT NULL PRIMARY KEY, tenant_id ${t.id} REFERENCES tenants (id), template ${t.text} NOT NULL, language ${t.text} NOT NULL, recipient ${t.text} NOT NULL, values_sealed ${t.text},
      about_kind ${t.text}, about_id ${t.id}, status ${t.text} NOT NULL, attempts ${t.int} NOT NULL, next_at ${t.big} NOT NULL, not_after ${t.big}, last_error ${t.text},
      created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL)`,
    "CREATE INDEX mail_outbox_due ON mail_outbox (next_at) WHERE status = 'queued'",
    'CREATE INDEX mail_outbox_by_record ON mail_outbox (tenant_id, about_kind, about_id)',
    'CREATE INDEX mail_outbox_by_age ON mail_outbox (created_at)',

    // Only open ones, also those that are over: accepting or withdrawing one removes it, and the audit keeps what happened.
    `CREATE TABLE invitations (
      tenant_id ${t.id} NOT NULL, id ${t.id} NOT NULL, email ${t.text} NOT NULL, role_code ${t.text} NOT NULL, subject_scope ${t.text}, token_hash ${t.text} NOT NULL UNIQUE, expires_at ${t.big} NOT NULL,
      invited_by ${t.id} NOT NULL, created_at ${t.big} NOT NULL, updated_at ${t.big} NOT NULL,
      PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, email),
      FOREIGN KEY (tenant_id, role_code) REFERENCES roles (tenant_id, code),
      FOREIGN KEY (tenant_id, invited_by) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX invitations_by_expiry ON invitations (expires_at)',

    // One live token per account, existing or not: those of strangers have no member.
    `CREATE TABLE password_resets (
      account_hash ${t.text} NOT NULL PRIMARY KEY, token_hash ${t.text} NOT NULL UNIQUE, tenant_id ${t.id}, member_id ${t.id}, expires_at ${t.big} NOT NULL, created_at ${t.big} NOT NULL,
      FOREIGN KEY (tenant_id, member_id) REFERENCES members (tenant_id, id))`,
    'CREATE INDEX password_resets_by_expiry ON password_resets (expires_at)',
  ],
};
