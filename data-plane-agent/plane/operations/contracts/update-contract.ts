import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractDetail, ContractPatch } from '../../contract/records/contracts.js';
import { Member } from '../../contract/records/people.js';
import { operation } from '../../steps/operation-context.js';
import { changeContract } from '../../steps/contracts/change-contract.js';
import { checkVersion } from '../../domain/contracts/checks.js';
import { detailOf } from '../../steps/contracts/detail.js';

/** Updates the given fields of a contract. A request without effect writes nothing. */
export const updateContract = operation({
  effect: 'write',
  // The control plane adds the members that custom values refer to.
  input: s.object({ contractId: s.id(), changes: ContractPatch, members: s.omittable(s.list(Member, 1_000)) }),
  output: ContractDetail,
  fails: [
    'VERSION_MISMATCH',
    'CONTRACT_LOCKED',
    'CURRENCY_FIXED',
    'INVALID_TRANSITION',
    'WORKFLOW_CONTROL_REQUIRED',
    'DUPLICATE_CONTRACT_NO',
    'DUPLICATE_ARCHIVE_CODE',
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'FIELD_NOT_EDITABLE',
    'LINE_HAS_MONEY',
    'RECONCILE_WITHOUT_RECEIPT',
    'RED_LETTER_EXCEEDS_ISSUED',
    'DUPLICATE_CODE',
    'LIMIT_REACHED',
  ],
  async run(context, call, { contractId, changes, members = [] }) {
    if (changes.dynamicFields !== undefined) await context.store.fields.holdForValues();
    const before = await context.store.contracts.find(contractId, { forUpdate: true });
    if (!before) throw fail('NOT_FOUND', {});
    checkVersion(before, call);
    const { row, warnings, ...parts } = await changeContract(context, call, { before, changes, members });
    return detailOf(context, call, { row, known: parts, warnings });
  },
});
