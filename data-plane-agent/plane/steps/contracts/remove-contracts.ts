import { fail, type Failure } from '../../../base/failures.js';
import { toMajor } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import { controlAt, holds } from '../../domain/lifecycle/lifecycle.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';

/**
 * Takes contracts that are held out of sight, with their lines, tasks and invoice records; receipts stay for audit, and
 * numbers become free. Answers the refusals of those that stay, by id; of these nothing was written.
 */
export async function removeContracts(
  { store, clock }: OperationContext,
  call: Call,
  rows: readonly ContractRow[],
): Promise<ReadonlyMap<string, Failure<'CONTRACT_HAS_MONEY'>>> {
  const lines = await store.lines.ofContracts(rows.map(({ id }) => id));
  const refused = new Map(
    rows.flatMap((row) =>
      blockedByMoney(
        row,
        lines.filter(({ contractId }) => contractId === row.id),
        call,
      ),
    ),
  );
  const going = rows.filter(({ id }) => !refused.has(id));
  if (going.length === 0) return refused;
  const ids = going.map(({ id }) => id);
  const now = clock.now();
  // Later than whatever was removed of it before, so that a restored contract brings back only what went with it.
  const deletedAt = Math.max(
    now,
    (await store.lines.lastRemoval(ids)) + 1,
    (await store.invoices.lastRemoval(ids)) + 1,
  );
  await store.lines.removeWithContracts(
    lines.filter(({ contractId }) => !refused.has(contractId)),
    deletedAt,
  );
  await store.tasks.removeWithContracts(ids, deletedAt);
  await store.invoices.removeWithContracts(ids, deletedAt);
  await store.contracts.remove(going, { deletedAt, now, actorId: call.actor.id });
  return refused;
}

/**
 * A signed or running contract that was paid for is part of the books: only who administers the workflow there may
 * remove it.
 */
function blockedByMoney(
  row: ContractRow,
  lines: readonly LineRow[],
  { controls }: Call,
): [id: string, Failure<'CONTRACT_HAS_MONEY'>][] {
  const paid = lines.find(({ receivedMinor }) => receivedMinor > 0);
  if (!paid || !['signed', 'active'].includes(row.stageCategory)) return [];
  if (holds(controlAt(controls, { code: row.stageCode, category: row.stageCategory }), 'admin')) return [];
  // A contract may have been paid on lines in another currency only; then that is what is named.
  const { receivedMinor, currencyCode } = row.receivedMinor > 0 ? row : paid;
  return [[row.id, fail('CONTRACT_HAS_MONEY', { receivedAmount: toMajor(receivedMinor, currencyCode), currencyCode })]];
}
