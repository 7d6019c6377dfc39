import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, textOf } from './rows.js';

export interface TotpRecord {
  readonly secretSealed: string;
  /** The latest time step whose code was accepted. */
  readonly lastStep: number;
}

/** The second factors of one tenant's members. Single-use values are invalidated by the statement that finds them. */
export class MfaStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  async totp(memberId: string): Promise<TotpRecord | undefined> {
    const row = await this.tx.get(
      'SELECT secret_sealed, last_step FROM mfa_totp WHERE tenant_id = ? AND member_id = ?',
      [this.tenantId, memberId],
    );
    return row && { secretSealed: textOf(row, 'secret_sealed'), lastStep: numberOf(row, 'last_step') };
  }

  /** Returns false if the member has an authenticator. */
  async insertTotp({
    memberId,
    secretSealed,
    step,
    at,
  }: {
    memberId: string;
    secretSealed: string;
    step: number;
    at: number;
  }): Promise<boolean> {
    const inserted = await this.tx.run(
      'INSERT INTO mfa_totp (tenant_id, member_id, secret_sealed, last_step, enrolled_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (tenant_id, member_id) DO NOTHING',
      [this.tenantId, memberId, secretSealed, step, at],
    );
    return inserted === 1;
  }

  /**
   * Marks the time step as used. Returns false if it or a later one was used before: of two concurrent requests with
   * the same code, one succeeds.
   */
  async useStep({ memberId, step }: { memberId: string; step: number }): Promise<boolean> {
    return (
      (await this.tx.run('UPDATE mfa_totp SET last_step = ? WHERE tenant_id = ? AND member_id = ? AND last_step < ?', [
        step,
        this.tenantId,
        memberId,
        step,
      ])) === 1
    );
  }

  /** Stores a secret that was offered; only the latest few of a member are kept. */
  async offer({ memberId, secretHash, at }: { memberId: string; secretHash: string; at: number }): Promise<void> {
    const { tenantId } = this;
    await this.tx.run(
      'INSERT INTO mfa_offered_secrets (tenant_id, member_id, secret_hash, offered_at) VALUES (?, ?, ?, ?)',
      [tenantId, memberId, secretHash, at],
    );
    await this.tx.run(DROP_OLDER, [tenantId, memberId, tenantId, memberId]);
  }

  async isOffered({
    memberId,
    secretHash,
    since,
  }: {
    memberId: string;
    secretHash: string;
    since: number;
  }): Promise<boolean> {
    const row = await this.tx.get(
      'SELECT 1 AS found FROM mfa_offered_secrets WHERE tenant_id = ? AND member_id = ? AND secret_hash = ? AND offered_at > ?',
      [this.tenantId, memberId, secretHash, since],
    );
    return row !== undefined;
  }

  async withdrawOffers(memberId: string): Promise<void> {
    await this.tx.run('DELETE FROM mfa_offered_secrets WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
  }

  async setRecoveryCodes({ memberId, hashes }: { memberId: string; hashes: readonly string[] }): Promise<void> {
    await this.tx.run('DELETE FROM mfa_recovery_codes WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
    for (const hash of hashes)
      await this.tx.run('INSERT INTO mfa_recovery_codes (tenant_id, member_id, code_hash) VALUES (?, ?, ?)', [
        this.tenantId,
        memberId,
        hash,
      ]);
  }

  /** Invalidates the code. Returns false if there is no such code. */
  async takeRecoveryCode({ memberId, hash }: { memberId: string; hash: string }): Promise<boolean> {
    return (
      (await this.tx.run('DELETE FROM mfa_recovery_codes WHERE tenant_id = ? AND member_id = ? AND code_hash = ?', [
        this.tenantId,
        memberId,
        hash,
      ])) === 1
    );
  }

  async recoveryCodesLeft(memberId: string): Promise<number> {
    const row = await this.tx.get(
      'SELECT count(*) AS n FROM mfa_recovery_codes WHERE tenant_id = ? AND member_id = ?',
      [this.tenantId, memberId],
    );
    return Number(row?.['n'] ?? 0);
  }

  /** Deletes the member's second factor completely. Returns false if there was none. */
  async remove(memberId: string): Promise<boolean> {
    const removed = await this.tx.run('DELETE FROM mfa_totp WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
    await this.setRecoveryCodes({ memberId, hashes: [] });
    await this.withdrawOffers(memberId);
    await this.tx.run('UPDATE login_codes SET code_sealed = NULL WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
    return removed === 1;
  }
}

const DROP_OLDER = `DELETE FROM mfa_offered_secrets WHERE tenant_id = ? AND member_id = ? AND secret_hash NOT IN (
  SELECT secret_hash FROM mfa_offered_secrets WHERE tenant_id = ? AND member_id = ? ORDER BY offered_at DESC, secret_hash LIMIT 5)`;
