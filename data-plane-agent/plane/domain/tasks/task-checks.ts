import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import { requireControl } from '../lifecycle/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';
import { takesBackAcceptance } from './tasks.js';
import type { TaskRow } from '../../tables/tasks.js';

/** Refuses malformed member ids. The control plane has checked before that the member exists. */
export function checkOwnerForm({ ownerId }: Pick<TaskRow, 'ownerId'>): void {
  if (ownerId !== null && !isId(ownerId)) throw fail('REFERENCE_INVALID', { field: 'ownerId', value: ownerId });
}

/** Requires the control `admin` at the contract's stage for taking back an acceptance. */
export function checkControl(
  before: TaskRow,
  after: TaskRow,
  { contract, controls }: { readonly contract: ContractRow; readonly controls: Call['controls'] },
): void {
  if (!takesBackAcceptance(before, after)) return;
  requireControl(controls, { code: contract.stageCode, category: contract.stageCategory }, 'admin');
}
