import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { jsonOf, numberOf, textOf } from './rows.js';

interface CodeOf {
  readonly memberId: string;
}

/** Login codes sent by mail: at most one code of a member is valid. */
export class LoginCodeStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** The times when codes were sent to the member, oldest first, as far as stored. */
  async sends({ memberId }: CodeOf): Promise<readonly number[]> {
    const row = await this.tx.get('SELECT sends FROM login_codes WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
    return row ? jsonOf<number[]>(row, 'sends') : [];
  }

  /** Replaces a code sent before `before`. Returns false if a concurrent request has sent a later one. */
  async replace({
    memberId,
    codeSealed,
    at,
    sends,
    before,
  }: CodeOf & { codeSealed: string; at: number; sends: readonly number[]; before: number }): Promise<boolean> {
    return (await this.tx.run(REPLACE, [this.tenantId, memberId, codeSealed, at, JSON.stringify(sends), before])) === 1;
  }

  /** No code is valid or sent before `until`. */
  async hold({ memberId, until }: CodeOf & { until: number }): Promise<void> {
    await this.tx.run(HOLD, [this.tenantId, memberId, until]);
  }

  /** Until when codes are disabled; 0 if they never were. */
  async heldUntil({ memberId }: CodeOf): Promise<number> {
    const row = await this.tx.get('SELECT held_until FROM login_codes WHERE tenant_id = ? AND member_id = ?', [
      this.tenantId,
      memberId,
    ]);
    return row ? numberOf(row, 'held_until') : 0;
  }

  /**
   * Counts an attempt and returns the code to compare with; `undefined` if there is no valid code or no attempt left.
   */
  async beginTry({
    memberId,
    tries,
    sentSince,
  }: CodeOf & { tries: number; sentSince: number }): Promise<string | undefined> {
    const row = await this.tx.get(TRY, [this.tenantId, memberId, tries, sentSince]);
    return row && textOf(row, 'code_sealed');
  }

  /** Invalidates the code. Returns false if it was used or replaced in the meantime. */
  async use({ memberId, codeSealed }: CodeOf & { codeSealed: string }): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE login_codes SET code_sealed = NULL WHERE tenant_id = ? AND member_id = ? AND code_sealed = ?',
        [this.tenantId, memberId, codeSealed],
      )) === 1
    );
  }
}

const REPLACE = `INSERT INTO login_codes (tenant_id, member_id, code_sealed, tries, sent_at, sends) VALUES (?, ?, ?, 0, ?, ?)
  ON CONFLICT (tenant_id, member_id) DO UPDATE SET code_sealed = excluded.code_sealed, tries = 0, sent_at = excluded.sent_at, sends = excluded.sends
  WHERE login_codes.sent_at <= ?`;

const HOLD = `INSERT INTO login_codes (tenant_id, member_id, code_sealed, tries, sent_at, sends, held_until) VALUES (?, ?, NULL, 0, 0, '[]', ?)
  ON CONFLICT (tenant_id, member_id) DO UPDATE SET code_sealed = NULL, held_until = excluded.held_until`;

const TRY = `UPDATE login_codes SET tries = tries + 1 WHERE tenant_id = ? AND member_id = ? AND code_sealed IS NOT NULL AND tries < ? AND sent_at > ? RETURNING code_sealed`;
