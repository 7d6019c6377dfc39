import { Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { TermInput, TermPatch, TermResult } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';

const MOVES = "Increments the contract's version, which `If-Match` refers to.";

const addContractTerm = endpoint('POST /contracts/:id/terms', {
  summary: 'Add a term to a contract',
  description: `Allowed on a locked contract too, since existing terms do not change. ${MOVES}`,
  needs: edit('contract_edit'),
  body: TermInput,
  status: 201,
  returns: TermResult,
  calls: ['addTerm'],
  fails: [],
  run: ({ params, body, plane }) => plane.addTerm({ contractId: params.id, ...body }),
});

const updateContractTerm = endpoint('PATCH /contracts/:id/terms/:termId', {
  summary: 'Update a term of a contract',
  description: `Terms are core fields: on a locked contract they cannot be changed (\`CONTRACT_LOCKED\`, \`fields: ["terms"]\`). ${MOVES} A request that changes nothing does not change the version, and succeeds on a locked contract too.`,
  needs: edit('contract_edit'),
  body: TermPatch,
  returns: TermResult,
  calls: ['updateTerm'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateTerm({ contractId: params.id, termId: params.termId, ...body }),
});

const deleteContractTerm = endpoint('DELETE /contracts/:id/terms/:termId', {
  summary: 'Delete a term of a contract',
  description: `Not allowed on a locked contract. ${MOVES}`,
  needs: edit('contract_edit'),
  returns: Ok,
  calls: ['deleteTerm'],
  fails: [],
  run: ({ params, plane }) => plane.deleteTerm({ contractId: params.id, termId: params.termId }),
});

export const contractTermEndpoints = { addContractTerm, updateContractTerm, deleteContractTerm };
