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
    'Those that can go do, together: each as by `DELETE /contracts/:id`. `blocked` names those that the same rule keeps, `notFound` what is no contract, or none that the caller may see; an id that is no UUID is among the latter. ' +
    'An id that comes twice counts once. `If-Match` is not read.',
  needs: edit('contract_delete'),
  body: BulkDeletion,
  returns: BulkDeletionResult,
  calls: ['bulkDeleteContracts'],
  fails: [],
  run: ({ body, plane }) => plane.bulkDeleteContracts(body),
});

const bulkAttachContracts = endpoint('POST /contracts/bulk-attachment', {
  summary: 'Give many contracts one attachment',
  description:
    'The file is a contract original or other evidence; one that does not exist in scope, or is of another kind, is `FILE_REFERENCE_INVALID`, and then nothing changes. It takes the place of what a contract had. ' +
    'Locked contracts take it too. A contract that has it already counts as updated, and its version stays. `If-Match` is not read.',
  needs: edit('contract_edit'),
  body: BulkAttachment,
  returns: BulkAttachmentResult,
  calls: ['bulkAttachContracts'],
  fails: [],
  run: ({ body, plane }) => plane.bulkAttachContracts(body),
});

export const contractBulkEndpoints = { bulkDeleteContracts, bulkAttachContracts };
