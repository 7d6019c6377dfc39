import { BulkDeletion, BulkDeletionResult } from '../../contract/records/bulk.js';
import { operation } from '../../steps/operation-context.js';
import { inChunks } from '../../steps/contracts/in-chunks.js';
import { removeContracts } from '../../steps/contracts/remove-contracts.js';

/** Moves contracts to the trash. Those that may not be deleted are returned with a reason. */
export const bulkDeleteContracts = operation({
  effect: 'write',
  input: BulkDeletion,
  output: BulkDeletionResult,
  fails: [],
  async run(context, call, { ids }) {
    const blockedBy = new Map<string, 'CONTRACT_HAS_MONEY'>();
    let deleted = 0;
    const notFound = await inChunks(context, ids, async (rows) => {
      const refused = await removeContracts(context, call, rows);
      for (const [id, { code }] of refused) blockedBy.set(id, code);
      deleted += rows.length - refused.size;
    });
    const blocked = [...new Set(ids)].flatMap((id) => {
      const code = blockedBy.get(id);
      return code === undefined ? [] : [{ id, code }];
    });
    return { deleted, notFound, blocked };
  },
});
