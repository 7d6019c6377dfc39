import {
  BulkAttachment,
  BulkAttachmentResult,
  BulkDeletion,
  BulkDeletionResult,
} from '../../data-plane-agent/plane/contract/records/bulk.js';
import { edit } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';

const bulkDeleteContracts = endpoint('POST /contracts/bulk-delete', {
  summary: 'Delete many contracts',
  description:
    'Deletes all contracts that can be deleted in one transaction, each by the rules of `DELETE /contracts/:id`. `blocked` lists contracts that those rules protect, `notFound` the ids that name no contract visible to the caller, including values that are not UUIDs. ' +
    'Duplicate ids count once. `If-Match` is ignored.',
  needs: edit('contract_delete'),
  body: BulkDeletion,
  returns: BulkDeletionResult,
  calls: ['bulkDeleteContracts'],
  fails: [],
  run: ({ body, plane }) => plane.bulkDeleteContracts(body),
});

const bulkSetContractAttachment = endpoint('POST /contracts/bulk-attachment', {
  summary: 'Set the same attachment on many contracts',
  description:
    'The file must be a contract original or other evidence. If it does not exist in scope or is of another kind, the answer is `FILE_REFERENCE_INVALID` and nothing changes. It replaces the present attachment of each contract, ' +
    'also of locked contracts. A contract that already has the attachment counts as updated, but its version does not change. `If-Match` is ignored.',
  needs: edit('contract_edit'),
  body: BulkAttachment,
  returns: BulkAttachmentResult,
  calls: ['bulkAttachContracts'],
  fails: [],
  run: ({ body, plane }) => plane.bulkAttachContracts(body),
});

export const contractBulkEndpoints = { bulkDeleteContracts, bulkSetContractAttachment };
