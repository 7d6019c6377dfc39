import type { Transaction } from '../../data-plane-agent/base/database/database.js';

/**
 * What anybody may begin leaves a row until it is over. Of one asker (a network, or a session) so many are kept, more
 * than an office of people signs in with at a time; beyond them the oldest give way, so that nobody fills the database
 * by beginning.
 */
export const MOST_OPEN = 1_000;

/** More than one insert adds: several at once may each have found room. */
const AT_ONCE = 20;

const FLOWS = { passkey_flows: 'flow_hash', sso_flows: 'state_hash' } as const;

/** To be called after an insert, in its transaction. */
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
