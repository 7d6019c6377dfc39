import { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { edit, view } from '../auth/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { tagged } from '../http/reply.js';
import { checkLineRights } from './line-rights.js';
import { checkReferences, NamedContractDetail, withNames } from './named.js';

const getContract = endpoint('GET /contracts/:id', {
  summary: 'Read a contract with its lines, terms and notes',
  needs: view('contract_view'),
  returns: NamedContractDetail,
  fails: [],
  run: async ({ params, plane, principal, services }) => {
    const contract = await plane.getContract({ contractId: params.id });
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

const createContract = endpoint('POST /contracts', {
  summary: 'Enter a contract',
  description: 'With its payment lines, terms and notes: all of it or nothing. Money received on a line needs `payment_entry (edit)`, invoice fields `invoice (edit)`.',
  needs: edit('contract_edit'),
  body: ContractInput,
  status: 201,
  returns: NamedContractDetail,
  fails: ['DUPLICATE_CONTRACT_NO', 'DUPLICATE_ARCHIVE_CODE', 'REFERENCE_INVALID', 'FILE_REFERENCE_INVALID', 'WORKFLOW_CONTROL_REQUIRED', 'RECONCILE_WITHOUT_RECEIPT'],
  run: async ({ body, plane, principal, services }) => {
    checkLineRights(principal, body.payments ?? []);
    await checkReferences(body, { principal, services });
    const contract = await plane.createContract(body);
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

export const contractEndpoints = { getContract, createContract };
