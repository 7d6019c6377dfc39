import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { heldContract, refuseLockedTerms, touchContract } from '../../steps/contracts/held.js';
import { operation } from '../../steps/operation-context.js';

/** Deletes a term of a contract that is not locked. */
export const deleteTerm = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), termId: s.id() }),
  output: Ok,
  fails: ['VERSION_MISMATCH', 'CONTRACT_LOCKED'],
  async run(context, call, { contractId, termId }) {
    const contract = await heldContract(context, call, contractId);
    const term = (await context.store.contracts.terms(contract.id)).find(({ id }) => id === termId);
    if (!term) throw fail('NOT_FOUND', {});
    refuseLockedTerms(contract);
    await context.store.contracts.removeTerms([term]);
    await touchContract(context, call, contract);
    return OK;
  },
});
