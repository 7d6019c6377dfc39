import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { keepNewest } from './open-flows.js';
import { numberOf, textOf, textOrNull } from './rows.js';

/** One question to an authenticator, which is answered once. Of what was told to the browser only digests are kept. */
export interface PasskeyFlow {
  readonly challengeHash: string;
  /** Whom it is about; `null` for a sign-in that named nobody. */
  readonly account: { readonly tenantId: string; readonly memberId: string } | null;
  readonly expiresAt: number;
}

export class PasskeyFlowStore {
  constructor(private readonly tx: Transaction) {}

  /** `sessionId` where a session registers a passkey. Of an asker the newest are kept. */
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

  /** Uses up a sign-in's flow; of two that come at once, one gets it. */
  async takeLogin({ flowHash, at }: { flowHash: string; at: number }): Promise<PasskeyFlow | undefined> {
    return liveFlow(
      await this.tx.get(`DELETE FROM passkey_flows WHERE flow_hash = ? AND kind = 'login' RETURNING ${COLUMNS}`, [
        flowHash,
      ]),
      at,
    );
  }

  /**
   * Uses up the session's flow of this challenge. An answer to none of them ends them all: no answer is tried twice.
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
