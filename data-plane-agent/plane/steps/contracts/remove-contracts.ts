import { fail, type Failure } from '../../../base/failures.js';
import { toMajor } from '../../../base/money.js';
import type { Call } from '../../contract/call.js';
import { controlAt, holds } from '../../domain/lifecycle/lifecycle.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';

/**
 * Moves locked contracts to the trash, with their lines, tasks and invoice records. Receipts stay for audit, and the
 * numbers become free. Returns the failures of contracts that may not be deleted, by id; nothing is written for these.
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
  const removed = rows.filter(({ id }) => !refused.has(id));
  if (removed.length === 0) return refused;
  const ids = removed.map(({ id }) => id);
  const now = clock.now();
  // Later than earlier removals of its parts, so that restoring the contract restores only what was removed with it.
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
  await store.contracts.remove(removed, { deletedAt, now, actorId: call.actor.id });
  return refused;
}

/** A signed or active contract that was paid for may be deleted only with the `admin` control of its stage. */
function blockedByMoney(
  row: ContractRow,
  lines: readonly LineRow[],
  { controls }: Call,
): [id: string, Failure<'CONTRACT_HAS_MONEY'>][] {
  const paid = lines.find(({ receivedMinor }) => receivedMinor > 0);
  if (!paid || !['signed', 'active'].includes(row.stageCategory)) return [];
  if (holds(controlAt(controls, { code: row.stageCode, category: row.stageCategory }), 'admin')) return [];
  // When only lines in another currency were paid, the failure names that currency.
  const { receivedMinor, currencyCode } = row.receivedMinor > 0 ? row : paid;
  return [[row.id, fail('CONTRACT_HAS_MONEY', { receivedAmount: toMajor(receivedMinor, currencyCode), currencyCode })]];
}
