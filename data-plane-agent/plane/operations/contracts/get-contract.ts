import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractDetail } from '../../contract/records/contracts.js';
import { contractDetail } from '../../domain/answers.js';
import { operation } from '../tools.js';

export const getContract = operation({
  effect: 'read',
  input: s.object({ contractId: s.id() }),
  output: ContractDetail,
  fails: [],
  async run({ store }, call, { contractId }) {
    const row = await store.contracts.find(contractId);
    if (!row) throw fail('NOT_FOUND', {});
    return contractDetail({ row, lines: await store.lines.ofContract(row.id), terms: await store.contracts.terms(row.id), notes: await store.contracts.notes(row.id) }, call);
  },
});
