import { fail } from '../../../base/failures.js';
import { toMajor } from '../../../base/money.js';
import { s } from '../../../base/schema.js';
import type { Call } from '../../contract/call.js';
import { OK, Ok } from '../../contract/records/common.js';
import { touched } from '../../domain/contract-changes.js';
import { controlAt, holds } from '../../domain/lifecycle.js';
import type { ContractRow, LineRow } from '../../domain/rows.js';
import { operation } from '../tools.js';
import { checkVersion } from './checks.js';

/** Removes a contract and its lines from sight; its receipts stay for audit, and its numbers become free. */
export const deleteContract = operation({
  effect: 'write',
  input: s.object({ contractId: s.id() }),
  output: Ok,
  fails: ['VERSION_MISMATCH', 'CONTRACT_HAS_MONEY'],
  async run({ store, clock }, call, { contractId }) {
    const row = await store.contracts.find(contractId, { forUpdate: true });
    if (!row) throw fail('NOT_FOUND', {});
    checkVersion(row, call);
    const lines = await store.lines.ofContract(row.id);
    refuseMoney(row, lines, call);
    const now = clock.now();
    for (const line of lines) await store.lines.update(line, { ...line, deletedAt: now, updatedAt: now });
    await store.contracts.update(row, touched({ ...row, deletedAt: now }, { now, actorId: call.actor.id }));
    return OK;
  },
});

/** A signed or running contract that was paid for is part of the books: only who administers the workflow there may remove it. */
function refuseMoney(row: ContractRow, lines: readonly LineRow[], { controls }: Call): void {
  const paid = lines.find(({ receivedMinor }) => receivedMinor > 0);
  if (!paid || !['signed', 'active'].includes(row.stageCategory)) return;
  if (holds(controlAt(controls, { code: row.stageCode, category: row.stageCategory }), 'admin')) return;
  // A contract may have been paid on lines in another currency only; then that is what is named.
  const { receivedMinor, currencyCode } = row.receivedMinor > 0 ? row : paid;
  throw fail('CONTRACT_HAS_MONEY', { receivedAmount: toMajor(receivedMinor, currencyCode), currencyCode });
}
