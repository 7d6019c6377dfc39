import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, textOf, textOrNull } from './rows.js';

export interface PasswordReset {
  /** The digest of slug and email, so that a change of address invalidates the token. */
  readonly accountHash: string;
  readonly tenantId: string;
  readonly memberId: string;
  readonly expiresAt: number;
}

/** Pending password resets: one per named account, whether or not it exists. */
export class PasswordResetStore {
  constructor(private readonly tx: Transaction) {}

  /** Replaces the account's token. Without a member, the token is for an unknown account and never found. */
  async put({
    accountHash,
    tokenHash,
    member,
    expiresAt,
    at,
  }: {
    accountHash: string;
    tokenHash: string;
    member: { tenantId: string; memberId: string } | undefined;
    expiresAt: number;
    at: number;
  }): Promise<void> {
    await this.tx.run(
      `INSERT INTO password_resets (account_hash, token_hash, tenant_id, member_id, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (account_hash) DO UPDATE SET token_hash = excluded.token_hash, tenant_id = excluded.tenant_id, member_id = excluded.member_id, expires_at = excluded.expires_at, created_at = excluded.created_at`,
      [accountHash, tokenHash, member?.tenantId ?? null, member?.memberId ?? null, expiresAt, at],
    );
  }

  async find(tokenHash: string): Promise<PasswordReset | undefined> {
    const row = await this.tx.get(
      'SELECT account_hash, tenant_id, member_id, expires_at FROM password_resets WHERE token_hash = ?',
      [tokenHash],
    );
    const tenantId = row && textOrNull(row, 'tenant_id');
    const memberId = row && textOrNull(row, 'member_id');
    return row && tenantId && memberId
      ? { accountHash: textOf(row, 'account_hash'), tenantId, memberId, expiresAt: numberOf(row, 'expires_at') }
      : undefined;
  }

  /** Deletes the member's token, if there is one. */
  async drop({ tenantId, memberId }: { tenantId: string; memberId: string }): Promise<void> {
    await this.tx.run('DELETE FROM password_resets WHERE tenant_id = ? AND member_id = ?', [tenantId, memberId]);
  }

  /** Invalidates the token. Returns false if it was used, replaced or has expired. */
  async take({ tokenHash, at }: { tokenHash: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run('DELETE FROM password_resets WHERE token_hash = ? AND expires_at > ?', [tokenHash, at])) === 1
    );
  }
}
