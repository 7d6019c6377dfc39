import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { operation } from '../../steps/operation-context.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { removeContracts } from '../../steps/contracts/remove-contracts.js';

/** Moves a contract to the trash. */
export const deleteContract = operation({
  effect: 'write',
  input: s.object({ contractId: s.id() }),
  output: Ok,
  fails: ['VERSION_MISMATCH', 'CONTRACT_HAS_MONEY'],
  async run(context, call, { contractId }) {
    const row = await context.store.contracts.find(contractId, { forUpdate: true });
    if (!row) throw fail('NOT_FOUND', {});
    checkVersion(row, call);
    const refused = (await removeContracts(context, call, [row])).get(row.id);
    if (refused) throw refused;
    return OK;
  },
});
