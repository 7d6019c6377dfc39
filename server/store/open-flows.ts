import type { Transaction } from '../../data-plane-agent/base/database/database.js';

/**
 * The maximum number of open flows at a provider or an authenticator per client (a network or a session), which is enough for an office. Above it
 * the oldest are deleted, so that nobody can fill the database by starting flows.
 */
export const MOST_OPEN = 1_000;

/** More than one insert adds, because concurrent inserts may have exceeded the limit. */
const AT_ONCE = 20;

const FLOWS = { passkey_flows: 'flow_hash', sso_flows: 'state_hash', calendar_flows: 'state_hash' } as const;

/** Call it after an insert, in the same transaction. */
export async function keepNewest(
  tx: Transaction,
  { table, asker }: { readonly table: keyof typeof FLOWS; readonly asker: string },
): Promise<void> {
  const hash = FLOWS[table];
  await tx.run(
    `DELETE FROM ${table} WHERE ${hash} IN (SELECT ${hash} FROM ${table} WHERE asker = ? ORDER BY expires_at DESC, ${hash} DESC LIMIT ${AT_ONCE} OFFSET ${MOST_OPEN})`,
    [asker],
  );
}
