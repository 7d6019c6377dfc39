import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { jsonOrNull, numberOf, textOf } from './rows.js';

/** An invitation that was not accepted; it may have expired. */
export interface InvitationRecord {
  readonly id: string;
  readonly tenantId: string;
  /** Lower-cased; the address of the account that accepting creates. */
  readonly email: string;
  readonly roleCode: string;
  /** The subject companies visible to the member; `null` means all, an empty list none. */
  readonly subjectScope: readonly string[] | null;
  readonly expiresAt: number;
  /** The member who last sent it, and whose permissions decide whether it is valid. */
  readonly invitedBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Finds an invitation by its token alone, of any tenant. */
export async function findInvitation(tx: Transaction, tokenHash: string): Promise<InvitationRecord | undefined> {
  const row = await tx.get(`SELECT ${COLUMNS} FROM invitations WHERE token_hash = ?`, [tokenHash]);
  return row && invitationOf(row);
}

export class InvitationStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** Newest first. */
  async all({ limit }: { limit: number }): Promise<InvitationRecord[]> {
    return (
      await this.tx.all(`SELECT ${COLUMNS} FROM invitations WHERE tenant_id = ? ORDER BY id DESC LIMIT ?`, [
        this.tenantId,
        limit,
      ])
    ).map(invitationOf);
  }

  async byId(id: string): Promise<InvitationRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM invitations WHERE tenant_id = ? AND id = ?`, [
      this.tenantId,
      id,
    ]);
    return row && invitationOf(row);
  }

  /** Returns false if the address has an open invitation; an expired one is replaced. */
  async insert({ tokenHash, ...it }: InvitationRecord & { readonly tokenHash: string }): Promise<boolean> {
    await this.tx.run('DELETE FROM invitations WHERE tenant_id = ? AND email = ? AND expires_at <= ?', [
      this.tenantId,
      it.email,
      it.createdAt,
    ]);
    const inserted = await this.tx.run(
      `INSERT INTO invitations (${COLUMNS}, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, email) DO NOTHING`,
      [
        this.tenantId,
        it.id,
        it.email,
        it.roleCode,
        it.subjectScope === null ? null : JSON.stringify(it.subjectScope),
        it.expiresAt,
        it.invitedBy,
        it.createdAt,
        it.updatedAt,
        tokenHash,
      ],
    );
    return inserted === 1;
  }

  /** Replaces the token. Returns false if the invitation does not exist. */
  async renew({
    id,
    tokenHash,
    invitedBy,
    expiresAt,
    at,
  }: {
    id: string;
    tokenHash: string;
    invitedBy: string;
    expiresAt: number;
    at: number;
  }): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE invitations SET token_hash = ?, invited_by = ?, expires_at = ?, updated_at = ? WHERE tenant_id = ? AND id = ?',
        [tokenHash, invitedBy, expiresAt, at, this.tenantId, id],
      )) === 1
    );
  }

  /** Deletes the invitation of a token. Returns false if the token was used, replaced, withdrawn or has expired. */
  async take({ tokenHash, at }: { tokenHash: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run('DELETE FROM invitations WHERE tenant_id = ? AND token_hash = ? AND expires_at > ?', [
        this.tenantId,
        tokenHash,
        at,
      ])) === 1
    );
  }

  async delete(id: string): Promise<boolean> {
    return (await this.tx.run('DELETE FROM invitations WHERE tenant_id = ? AND id = ?', [this.tenantId, id])) === 1;
  }
}

const COLUMNS = 'tenant_id, id, email, role_code, subject_scope, expires_at, invited_by, created_at, updated_at';

const invitationOf = (row: Row): InvitationRecord => ({
  id: textOf(row, 'id'),
  tenantId: textOf(row, 'tenant_id'),
  email: textOf(row, 'email'),
  roleCode: textOf(row, 'role_code'),
  subjectScope: jsonOrNull(row, 'subject_scope'),
  expiresAt: numberOf(row, 'expires_at'),
  invitedBy: textOf(row, 'invited_by'),
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
