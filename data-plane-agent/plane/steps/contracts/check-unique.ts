import { fail } from '../../../base/failures.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';

/**
 * Refuses a contract number or archive code that another live contract has. Keys ignore case, so that a contract may
 * change the case of its own.
 */
export async function checkUnique({ store }: OperationContext, before: ContractRow, after: ContractRow): Promise<void> {
  const { contractKey, archiveKey } = after;
  if (contractKey !== before.contractKey && (await store.contracts.holderOf({ contractKey })))
    throw fail('DUPLICATE_CONTRACT_NO', { contractNo: after.contractNo });
  if (archiveKey !== before.archiveKey && (await store.contracts.holderOf({ archiveKey })))
    throw fail('DUPLICATE_ARCHIVE_CODE', { archiveCode: after.archiveCode });
}
