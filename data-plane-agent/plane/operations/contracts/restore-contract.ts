import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractDetail } from '../../contract/records/contracts.js';
import { touched, withAggregates } from '../../domain/contracts/changes.js';
import { isRestorable } from '../../domain/contracts/trash.js';
import type { ContractRow } from '../../tables/contracts.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { detailOf } from '../../steps/contracts/detail.js';
import { reusedTransfers } from '../../steps/receivables/shared-transfers.js';

/**
 * Restores a contract with the lines, tasks and invoice records deleted with it. A live contract is returned unchanged.
 */
export const restoreContract = operation({
  effect: 'write',
  input: s.object({ contractId: s.id() }),
  output: ContractDetail,
  fails: ['VERSION_MISMATCH', 'DUPLICATE_CONTRACT_NO', 'DUPLICATE_ARCHIVE_CODE', 'DUPLICATE_CODE'],
  async run(context, call, { contractId }) {
    const { store, clock } = context;
    // In this order: the later of two concurrent requests waits here, and then finds it live.
    const row =
      (await store.contracts.find(contractId, { forUpdate: true, deleted: true })) ??
      (await store.contracts.find(contractId, { forUpdate: true }));
    const now = clock.now();
    if (!row || !(row.deletedAt === null || isRestorable(row.deletedAt, now))) throw fail('NOT_FOUND', {});
    checkVersion(row, call);
    if (row.deletedAt === null) return detailOf(context, call, { row });

    await refuseTaken(context, row);
    await store.lines.restoreWithContract(row.id, { deletedAt: row.deletedAt, now });
    await store.tasks.restoreWithContract(row.id, row.deletedAt);
    await store.invoices.restoreWithContract(row.id, row.deletedAt);
    const lines = await store.lines.ofContract(row.id);
    const restored = await store.contracts.update(
      row,
      touched(withAggregates({ ...row, deletedAt: null }, lines), { now, actorId: call.actor.id }),
    );
    return detailOf(context, call, {
      row: restored,
      known: { lines },
      // Bank transfers that other lines have named since the deletion.
      warnings: await reusedTransfers(context, lines, { except: new Set(lines.map(({ id }) => id)) }),
    });
  },
});

/** Another contract may have taken its numbers since the deletion. */
async function refuseTaken(
  { store }: OperationContext,
  { contractKey, archiveKey, contractNo, archiveCode }: ContractRow,
): Promise<void> {
  if (await store.contracts.holderOf({ contractKey })) throw fail('DUPLICATE_CONTRACT_NO', { contractNo });
  if (await store.contracts.holderOf({ archiveKey })) throw fail('DUPLICATE_ARCHIVE_CODE', { archiveCode });
}
