import { s } from '../../../base/schema.js';
import { ContractDetail, ContractInput } from '../../contract/records/contracts.js';
import { Member } from '../../contract/records/people.js';
import { operation } from '../../steps/operation-context.js';
import { detailOf } from '../../steps/contracts/detail.js';
import { enterContract } from '../../steps/contracts/enter-contract.js';

/** Creates a contract with its lines, terms and notes: all or none. */
export const createContract = operation({
  effect: 'write',
  mayShare: true,
  // The control plane adds the members that custom values refer to, and the first reference that it could not resolve.
  input: s.object({
    ...ContractInput.properties,
    members: s.omittable(s.list(Member, 1_000)),
    unknownReference: s.omittable(s.object({ field: s.text(), value: s.verbatim({ max: 1_000 }) })),
  }),
  output: ContractDetail,
  fails: [
    'DUPLICATE_CONTRACT_NO',
    'DUPLICATE_ARCHIVE_CODE',
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'FIELD_NOT_EDITABLE',
    'WORKFLOW_CONTROL_REQUIRED',
    'RECONCILE_WITHOUT_RECEIPT',
    'DUPLICATE_CODE',
  ],
  async run(context, call, { members = [], unknownReference, ...input }) {
    const { row, warnings, ...parts } = await enterContract(context, call, { input, members, unknownReference });
    return detailOf(context, call, { row, known: parts, warnings });
  },
});
