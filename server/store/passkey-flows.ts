import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { keepNewest } from './open-flows.js';
import { numberOf, textOf, textOrNull } from './rows.js';

/**
 * One request to an authenticator, which can be answered once. Of the values sent to the browser only digests are
 * stored.
 */
export interface PasskeyFlow {
  readonly challengeHash: string;
  /** The account; `null` for a sign-in to an unknown account. */
  readonly account: { readonly tenantId: string; readonly memberId: string } | null;
  readonly expiresAt: number;
}

export class PasskeyFlowStore {
  constructor(private readonly tx: Transaction) {}

  /** `sessionId` is set if a session registers a passkey. Only the newest flows of a client are kept. */
  async insert({
    flowHash,
    sessionId,
    asker,
    flow,
  }: {
    flowHash: string;
    sessionId: string | null;
    asker: string;
    flow: PasskeyFlow;
  }): Promise<void> {
    await this.tx.run(
      'INSERT INTO passkey_flows (flow_hash, kind, challenge_hash, tenant_id, member_id, session_id, asker, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      [
        flowHash,
        sessionId === null ? 'login' : 'registration',
        flow.challengeHash,
        flow.account?.tenantId ?? null,
        flow.account?.memberId ?? null,
        sessionId,
        asker,
        flow.expiresAt,
      ],
    );
    await keepNewest(this.tx, { table: 'passkey_flows', asker });
  }

  /** Invalidates the flow of a sign-in; of two concurrent requests, one gets it. */
  async takeLogin({ flowHash, at }: { flowHash: string; at: number }): Promise<PasskeyFlow | undefined> {
    return liveFlow(
      await this.tx.get(`DELETE FROM passkey_flows WHERE flow_hash = ? AND kind = 'login' RETURNING ${COLUMNS}`, [
        flowHash,
      ]),
      at,
    );
  }

  /**
   * Invalidates the session's flow with this challenge. If there is none, all flows of the session are invalidated, so
   * that no response can be tried twice.
   */
  async takeRegistration({
    sessionId,
    challengeHash,
    at,
  }: {
    sessionId: string;
    challengeHash: string;
    at: number;
  }): Promise<PasskeyFlow | undefined> {
    const row = await this.tx.get(
      `DELETE FROM passkey_flows WHERE session_id = ? AND kind = 'registration' AND challenge_hash = ? RETURNING ${COLUMNS}`,
      [sessionId, challengeHash],
    );
    if (!row) await this.tx.run('DELETE FROM passkey_flows WHERE session_id = ?', [sessionId]);
    return liveFlow(row, at);
  }
}

const COLUMNS = 'challenge_hash, tenant_id, member_id, expires_at';

function liveFlow(row: Row | undefined, at: number): PasskeyFlow | undefined {
  if (!row || numberOf(row, 'expires_at') <= at) return undefined;
  const [tenantId, memberId] = [textOrNull(row, 'tenant_id'), textOrNull(row, 'member_id')];
  return {
    challengeHash: textOf(row, 'challenge_hash'),
    account: tenantId !== null && memberId !== null ? { tenantId, memberId } : null,
    expiresAt: numberOf(row, 'expires_at'),
  };
}
