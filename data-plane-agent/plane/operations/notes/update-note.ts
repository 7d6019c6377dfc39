import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { NotePatch, NoteResult } from '../../contract/records/contracts.js';
import { noteAnswer } from '../../domain/contracts/presenter.js';
import { heldContract, touchContract } from '../../steps/contracts/held.js';
import { operation } from '../../steps/operation-context.js';
import type { NoteRow } from '../../tables/notes.js';

/** Updates a note of a contract. A request without effect writes nothing. */
export const updateNote = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), noteId: s.id(), ...NotePatch.properties }),
  output: NoteResult,
  fails: ['VERSION_MISMATCH'],
  async run(context, call, { contractId, noteId, label, value }) {
    const contract = await heldContract(context, call, contractId);
    const before = (await context.store.contracts.notes(contract.id)).find(({ id }) => id === noteId);
    if (!before) throw fail('NOT_FOUND', {});
    const after: NoteRow = {
      ...before,
      label: label ?? before.label,
      value: value ?? before.value,
      updatedAt: context.clock.now(),
    };
    if (after.label === before.label && after.value === before.value)
      return { ...noteAnswer(before), contractVersion: contract.version };
    await context.store.contracts.updateNote(before, after);
    const { version } = await touchContract(context, call, contract);
    return { ...noteAnswer(after), contractVersion: version };
  },
});
