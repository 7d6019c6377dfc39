import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { isId } from '../../data-plane-agent/base/ids.js';

/** The ids of tokens that agents have used, until they expire: they are valid once at all replicas. */
export class LinkTokenStore {
  constructor(private readonly tx: Transaction) {}

  /** False if the token was used before, or if its id, which the agent chose, has another form than ids. */
  async use({ jti, expiresAt }: { readonly jti: string; readonly expiresAt: number }): Promise<boolean> {
    if (!isId(jti)) return false;
    const inserted = await this.tx.run(
      'INSERT INTO link_tokens_used (jti, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
      [jti, expiresAt],
    );
    return inserted === 1;
  }
}
