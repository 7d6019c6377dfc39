import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { flagOf, jsonOf, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

interface OfMember {
  readonly memberId: string;
}

export interface PasskeyRecord extends OfMember {
  readonly id: string;
  readonly tenantId: string;
  /** The credential id of the authenticator, in base64url. */
  readonly credentialId: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  /** The authenticator's signature counter; always 0 if it does not count. */
  readonly counter: number;
  /** The transports reported by the browser. */
  readonly transports: readonly string[];
  /** Whether it can be synced to several devices. Never changes. */
  readonly synced: boolean;
  /** Whether it is backed up, as last reported. */
  readonly backedUp: boolean;
  readonly label: string | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export class PasskeyStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** Oldest first. */
  async all({ memberId }: OfMember): Promise<PasskeyRecord[]> {
    return (
      await this.tx.all(`SELECT ${COLUMNS} FROM passkeys WHERE tenant_id = ? AND member_id = ? ORDER BY id`, [
        this.tenantId,
        memberId,
      ])
    ).map(passkeyOf);
  }

  async byCredential({
    memberId,
    credentialId,
  }: OfMember & { credentialId: string }): Promise<PasskeyRecord | undefined> {
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM passkeys WHERE tenant_id = ? AND member_id = ? AND credential_id = ?`,
      [this.tenantId, memberId, credentialId],
    );
    return row && passkeyOf(row);
  }

  async count({ memberId }: OfMember): Promise<number> {
    const row = await this.tx.get('SELECT count(*) AS n FROM passkeys WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
    return Number(row?.['n'] ?? 0);
  }

  /** Returns false if the member has this credential. */
  async insert(passkey: PasskeyRecord): Promise<boolean> {
    const inserted = await this.tx.run(
      `INSERT INTO passkeys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, member_id, credential_id) DO NOTHING`,
      [
        this.tenantId,
        passkey.id,
        passkey.memberId,
        passkey.credentialId,
        passkey.publicKey,
        passkey.counter,
        JSON.stringify(passkey.transports),
        passkey.synced ? 1 : 0,
        passkey.backedUp ? 1 : 0,
        passkey.label,
        passkey.createdAt,
        passkey.lastUsedAt,
      ],
    );
    return inserted === 1;
  }

  /**
   * Records a sign-in. Returns false if the authenticator's counter has not increased since the last one, which
   * indicates a copied key, or if the passkey does not exist. Authenticators without a counter always report 0.
   */
  async use({
    id,
    memberId,
    counter,
    backedUp,
    at,
  }: OfMember & { id: string; counter: number; backedUp: boolean; at: number }): Promise<boolean> {
    return (
      (await this.tx.run(USE, [counter, backedUp ? 1 : 0, at, this.tenantId, memberId, id, counter, counter])) === 1
    );
  }

  /** Returns false if the member has no such passkey. */
  async delete({ id, memberId }: OfMember & { id: string }): Promise<boolean> {
    return (
      (await this.tx.run('DELETE FROM passkeys WHERE tenant_id = ? AND member_id = ? AND id = ?', [
        this.tenantId,
        memberId,
        id,
      ])) === 1
    );
  }
}

const COLUMNS =
  'tenant_id, id, member_id, credential_id, public_key, counter, transports, synced, backed_up, label, created_at, last_used_at';

const USE = `UPDATE passkeys SET counter = ?, backed_up = ?, last_used_at = ?
  WHERE tenant_id = ? AND member_id = ? AND id = ? AND (counter < ? OR (counter = 0 AND counter = ?))`;

const passkeyOf = (row: Row): PasskeyRecord => ({
  id: textOf(row, 'id'),
  tenantId: textOf(row, 'tenant_id'),
  memberId: textOf(row, 'member_id'),
  credentialId: textOf(row, 'credential_id'),
  publicKey: textOf(row, 'public_key'),
  counter: numberOf(row, 'counter'),
  transports: jsonOf(row, 'transports'),
  synced: flagOf(row, 'synced'),
  backedUp: flagOf(row, 'backed_up'),
  label: textOrNull(row, 'label'),
  createdAt: numberOf(row, 'created_at'),
  lastUsedAt: numberOrNull(row, 'last_used_at'),
});
