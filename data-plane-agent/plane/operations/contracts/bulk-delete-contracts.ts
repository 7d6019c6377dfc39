import { BulkDeletion, BulkDeletionResult } from '../../contract/records/bulk.js';
import { operation } from '../../steps/operation-context.js';
import { inChunks } from '../../steps/contracts/in-chunks.js';
import { removeContracts } from '../../steps/contracts/remove-contracts.js';

/** Moves many contracts to the trash: those that can go do, and the others are named. */
export const bulkDeleteContracts = operation({
  effect: 'write',
  input: BulkDeletion,
  output: BulkDeletionResult,
  fails: [],
  async run(context, call, { ids }) {
    const staying = new Map<string, 'CONTRACT_HAS_MONEY'>();
    let deleted = 0;
    const notFound = await inChunks(context, ids, async (rows) => {
      const refused = await removeContracts(context, call, rows);
      for (const [id, { code }] of refused) staying.set(id, code);
      deleted += rows.length - refused.size;
    });
    const blocked = [...new Set(ids)].flatMap((id) => {
      const code = staying.get(id);
      return code === undefined ? [] : [{ id, code }];
    });
    return { deleted, notFound, blocked };
  },
});
