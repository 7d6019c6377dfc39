import { s } from '../../data-plane-agent/base/schema.js';
import { page } from '../../data-plane-agent/plane/contract/records/common.js';
import { trashedProperties, TrashQuery } from '../../data-plane-agent/plane/contract/records/trash.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { tagged } from '../http/reply.js';
import { NamedContractDetail, nameProperties, withNames } from './named.js';

const TrashedContract = s.object(
  { ...trashedProperties, ...nameProperties, deletedByName: s.nullable(s.text()) },
  { title: 'TrashedContract' },
);

const listTrash = endpoint('GET /contracts/trash', {
  summary: 'List deleted contracts that can be restored',
  description:
    'For thirty days after their deletion, the latest first. Amounts are those at the deletion; nothing of a deleted contract is due, so `overdueAmount` is 0.',
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
    'Within thirty days of its deletion; later it is not found. It comes back with the lines, tasks and invoice records that went with it, under the owner and the subject company that it had, also when those have gone since. ' +
    "A contract that is not deleted is answered as it is. Its numbers were free meanwhile: `DUPLICATE_CONTRACT_NO`, `DUPLICATE_ARCHIVE_CODE`, and `DUPLICATE_CODE` for an invoice's, when another has taken one. `If-Match` means the version that the trash shows.",
  needs: edit('contract_delete'),
  returns: NamedContractDetail,
  calls: ['restoreContract'],
  fails: [],
  run: async ({ params, plane, principal, services }) => {
    const contract = await plane.restoreContract({ contractId: params.id });
    return tagged(withNames(contract, await services.directory.of(principal.tenant.id)));
  },
});

export const contractTrashEndpoints = { listTrash, restoreContract };
