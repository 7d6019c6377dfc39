import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractDetail } from '../../contract/records/contracts.js';
import { operation } from '../../steps/operation-context.js';
import { detailOf } from '../../steps/contracts/detail.js';

export const getContract = operation({
  effect: 'read',
  isKept: true,
  input: s.object({ contractId: s.id() }),
  output: ContractDetail,
  fails: [],
  async run({ store }, call, { contractId }) {
    const row = await store.contracts.find(contractId);
    if (!row) throw fail('NOT_FOUND', {});
    return detailOf({ store }, call, { row });
  },
});
