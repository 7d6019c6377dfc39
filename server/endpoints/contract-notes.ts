import { Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { NoteInput, NotePatch, NoteResult } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';

const MOVES = "A lock does not apply to notes. Increments the contract's version, which `If-Match` refers to.";

const addContractNote = endpoint('POST /contracts/:id/notes', {
  summary: 'Add a note to a contract',
  description: `The note is appended to the contract's \`notes\`. ${MOVES}`,
  needs: edit('contract_edit'),
  body: NoteInput,
  status: 201,
  returns: NoteResult,
  calls: ['addNote'],
  fails: [],
  run: ({ params, body, plane }) => plane.addNote({ contractId: params.id, ...body }),
});

const updateContractNote = endpoint('PATCH /contracts/:id/notes/:noteId', {
  summary: 'Update a note of a contract',
  description: `${MOVES} A request that changes nothing does not change the version.`,
  needs: edit('contract_edit'),
  body: NotePatch,
  returns: NoteResult,
  calls: ['updateNote'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateNote({ contractId: params.id, noteId: params.noteId, ...body }),
});

const deleteContractNote = endpoint('DELETE /contracts/:id/notes/:noteId', {
  summary: 'Delete a note of a contract',
  description: MOVES,
  needs: edit('contract_edit'),
  returns: Ok,
  calls: ['deleteNote'],
  fails: [],
  run: ({ params, plane }) => plane.deleteNote({ contractId: params.id, noteId: params.noteId }),
});

export const contractNoteEndpoints = { addContractNote, updateContractNote, deleteContractNote };
