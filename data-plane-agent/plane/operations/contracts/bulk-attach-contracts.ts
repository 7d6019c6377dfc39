import { BulkAttachment, BulkAttachmentResult } from '../../contract/records/bulk.js';
import { touched } from '../../domain/contracts/changes.js';
import { operation } from '../../steps/operation-context.js';
import { inChunks } from '../../steps/contracts/in-chunks.js';

/** Kinds of files that a contract may have as its attachment. */
const KINDS = ['contract_original', 'other_evidence'] as const;

/** Attaches one file, such as a framework agreement, to many contracts. A lock does not protect the attachment. */
export const bulkAttachContracts = operation({
  effect: 'write',
  input: BulkAttachment,
  output: BulkAttachmentResult,
  fails: ['FILE_REFERENCE_INVALID'],
  async run(context, call, { ids, contractAttachment }) {
    const { store, clock } = context;
    await store.files.check('contractAttachment', contractAttachment, { kinds: KINDS });
    const now = clock.now();
    let updated = 0;
    const notFound = await inChunks(context, ids, async (rows) => {
      for (const row of rows)
        if (row.contractAttachment !== contractAttachment)
          await store.contracts.update(row, touched({ ...row, contractAttachment }, { now, actorId: call.actor.id }));
      updated += rows.length;
    });
    return { updated, notFound };
  },
});
