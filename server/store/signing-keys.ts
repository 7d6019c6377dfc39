import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { jsonOf, numberOf, numberOrNull, textOf } from './rows.js';

/** An Ed25519 key that signs tokens. */
export interface SigningKeyRecord {
  readonly kid: string;
  /** One key signs (`active`); earlier ones only verify (`retiring`). */
  readonly status: 'active' | 'retiring';
  readonly publicJwk: Readonly<Record<string, unknown>>;
  /** The private key as JWK, sealed by the key ring. */
  readonly privateSealed: string;
  readonly createdAt: number;
  /** When the last token signed with it expires; `null` while it signs. */
  readonly verifyUntil: number | null;
}

export class SigningKeyStore {
  constructor(
    private readonly tx: Transaction,
    private readonly table: 'signing_keys' | 'link_keys' = 'signing_keys',
  ) {}

  /** The active key first, then newest first; of those made in one millisecond, the one that was retired later. */
  async all(): Promise<SigningKeyRecord[]> {
    const rows = await this.tx.all(
      `SELECT kid, status, public_jwk, private_sealed, created_at, verify_until FROM ${this.table} ORDER BY status, created_at DESC, verify_until DESC`,
    );
    return rows.map(keyOf);
  }

  /** Returns false if there is an active key: of replicas that start concurrently, one creates it. */
  async insertActive(key: Omit<SigningKeyRecord, 'status' | 'verifyUntil'>): Promise<boolean> {
    const inserted = await this.tx.run(
      `INSERT INTO ${this.table} (kid, status, public_jwk, private_sealed, created_at, verify_until) VALUES (?, 'active', ?, ?, ?, NULL) ON CONFLICT DO NOTHING`,
      [key.kid, JSON.stringify(key.publicJwk), key.privateSealed, key.createdAt],
    );
    return inserted === 1;
  }

  async retireActive({ verifyUntil }: { verifyUntil: number }): Promise<void> {
    await this.tx.run(`UPDATE ${this.table} SET status = 'retiring', verify_until = ? WHERE status = 'active'`, [
      verifyUntil,
    ]);
  }

  async deleteExpired({ at }: { at: number }): Promise<void> {
    await this.tx.run(`DELETE FROM ${this.table} WHERE verify_until <= ?`, [at]);
  }
}

const keyOf = (row: Row): SigningKeyRecord => ({
  kid: textOf(row, 'kid'),
  status: textOf(row, 'status') as SigningKeyRecord['status'],
  publicJwk: jsonOf(row, 'public_jwk'),
  privateSealed: textOf(row, 'private_sealed'),
  createdAt: numberOf(row, 'created_at'),
  verifyUntil: numberOrNull(row, 'verify_until'),
});
