import { invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { MAX_LINES, NoteInput, NoteResult } from '../../contract/records/contracts.js';
import { noteAnswer } from '../../domain/contracts/presenter.js';
import { heldContract, touchContract } from '../../steps/contracts/held.js';
import { operation } from '../../steps/operation-context.js';
import type { NoteRow } from '../../tables/notes.js';

/** Adds a note to a contract, also to a locked one. */
export const addNote = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...NoteInput.properties }),
  output: NoteResult,
  fails: ['VERSION_MISMATCH'],
  async run(context, call, { contractId, label, value }) {
    const { store, clock, newId } = context;
    const contract = await heldContract(context, call, contractId);
    const notes = await store.contracts.notes(contract.id);
    if (notes.length >= MAX_LINES) throw invalid({ path: 'notes', problem: `must have at most ${MAX_LINES} items` });
    const now = clock.now();
    const note: NoteRow = {
      id: newId(),
      contractId: contract.id,
      position: (notes.at(-1)?.position ?? -1) + 1,
      label,
      value,
      createdAt: now,
      updatedAt: now,
    };
    await store.contracts.insertNotes([note]);
    const { version } = await touchContract(context, call, contract);
    return { ...noteAnswer(note), contractVersion: version };
  },
});
