import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { PlanCode } from '../access/permissions.js';
import { numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

export interface RedeemCodeRecord {
  readonly id: string;
  readonly planCode: PlanCode;
  readonly createdAt: number;
  /** `null` means that it does not expire. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly usedAt: number | null;
  readonly usedByTenantId: string | null;
}

export class RedeemCodeStore {
  constructor(private readonly tx: Transaction) {}

  /** Newest first. */
  async all(): Promise<RedeemCodeRecord[]> {
    return (await this.tx.all(`SELECT ${COLUMNS} FROM redeem_codes ORDER BY id DESC`)).map(codeOf);
  }

  async insert({
    id,
    codeHash,
    planCode,
    createdAt,
    expiresAt,
  }: Pick<RedeemCodeRecord, 'id' | 'planCode' | 'createdAt' | 'expiresAt'> & { codeHash: string }): Promise<void> {
    await this.tx.run(
      'INSERT INTO redeem_codes (id, code_hash, plan_code, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
      [id, codeHash, planCode, createdAt, expiresAt],
    );
  }

  /** Returns the code if it can be used at this instant. Only `take` is decisive for concurrent requests. */
  async usable({ codeHash, at }: { codeHash: string; at: number }): Promise<RedeemCodeRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM redeem_codes WHERE code_hash = ? AND ${USABLE}`, [
      codeHash,
      at,
    ]);
    return row && codeOf(row);
  }

  /** Invalidates the code. Returns false if it was used, revoked or has expired. */
  async take({ id, tenantId, at }: { id: string; tenantId: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run(`UPDATE redeem_codes SET used_at = ?, used_by_tenant_id = ? WHERE id = ? AND ${USABLE}`, [
        at,
        tenantId,
        id,
        at,
      ])) === 1
    );
  }

  /** Returns false if there is no such unused code. */
  async revoke({ id, at }: { id: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE redeem_codes SET revoked_at = ? WHERE id = ? AND used_at IS NULL AND revoked_at IS NULL',
        [at, id],
      )) === 1
    );
  }
}

const COLUMNS = 'id, plan_code, created_at, expires_at, revoked_at, used_at, used_by_tenant_id';
const USABLE = 'used_at IS NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)';

const codeOf = (row: Row): RedeemCodeRecord => ({
  id: textOf(row, 'id'),
  planCode: textOf(row, 'plan_code') as PlanCode,
  createdAt: numberOf(row, 'created_at'),
  expiresAt: numberOrNull(row, 'expires_at'),
  revokedAt: numberOrNull(row, 'revoked_at'),
  usedAt: numberOrNull(row, 'used_at'),
  usedByTenantId: textOrNull(row, 'used_by_tenant_id'),
});
