import { s } from '../../data-plane-agent/base/schema.js';
import { page } from '../../data-plane-agent/plane/contract/records/common.js';
import { trashedProperties, TrashQuery } from '../../data-plane-agent/plane/contract/records/trash.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { changed, NamedContractDetail, nameProperties, withNames } from './named.js';

const TrashedContract = s.object(
  { ...trashedProperties, ...nameProperties, deletedByName: s.nullable(s.text()) },
  { title: 'TrashedContract' },
);

const listDeletedContracts = endpoint('GET /contracts/trash', {
  summary: 'List deleted contracts that can be restored',
  description:
    'Contracts are listed for thirty days after their deletion, most recently deleted first. Amounts are as of the deletion; nothing on a deleted contract is due, so `overdueAmount` is 0.',
  needs: edit('contract_delete'),
  query: TrashQuery,
  returns: page(TrashedContract, { title: 'TrashPage' }),
  calls: ['listTrash'],
  fails: [],
  run: async ({ query, plane, principal, services }) => {
    const directory = await services.directory.of(principal.tenant.id);
    const found = await plane.listTrash(query);
    return {
      ...found,
      items: found.items.map((contract) => ({
        ...withNames(contract, directory),
        deletedByName: contract.deletedBy === null ? null : directory.memberName(contract.deletedBy),
      })),
    };
  },
});

const restoreContract = endpoint('POST /contracts/:id/restore', {
  summary: 'Restore a deleted contract',
  description:
    'Possible within thirty days of the deletion; after that the answer is 404. The contract is restored with the lines, tasks and invoice records that were deleted with it, and with the owner and the subject company that it had, even if those no longer exist. ' +
    'A contract that is not deleted is returned unchanged. While a contract is deleted, its numbers can be used by others: if one is taken, the answer is `DUPLICATE_CONTRACT_NO`, `DUPLICATE_ARCHIVE_CODE` or, for an invoice number, `DUPLICATE_CODE`. `If-Match` refers to the version that the trash shows.',
  needs: edit('contract_delete'),
  returns: NamedContractDetail,
  calls: ['restoreContract'],
  fails: [],
  run: async ({ params, plane, principal, services }) => {
    const contract = await plane.restoreContract({ contractId: params.id });
    return changed(contract, { principal, services });
  },
});

export const contractTrashEndpoints = { listDeletedContracts, restoreContract };
