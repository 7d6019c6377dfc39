import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { heldContract, touchContract } from '../../steps/contracts/held.js';
import { operation } from '../../steps/operation-context.js';

/** Deletes a note of a contract. */
export const deleteNote = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), noteId: s.id() }),
  output: Ok,
  fails: ['VERSION_MISMATCH'],
  async run(context, call, { contractId, noteId }) {
    const contract = await heldContract(context, call, contractId);
    const note = (await context.store.contracts.notes(contract.id)).find(({ id }) => id === noteId);
    if (!note) throw fail('NOT_FOUND', {});
    await context.store.contracts.removeNotes([note]);
    await touchContract(context, call, contract);
    return OK;
  },
});
