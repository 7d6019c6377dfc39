import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import { areSameRoles, controlAt, holds } from '../lifecycle/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';

interface References {
  readonly subjectId: string;
  readonly ownerId: string;
  readonly ownerSuperiorId: string | null;
}

/**
 * Refuses a subject company outside the caller's scope, and what cannot be an id at all. Whether a member or a subject
 * company exists is known to the control plane, which has asked before.
 */
export function checkReferenceForm(references: References, { subjectScope }: Pick<Call, 'subjectScope'>): void {
  for (const field of ['subjectId', 'ownerId', 'ownerSuperiorId'] as const) {
    const value = references[field];
    if (value !== null && !isId(value)) throw fail('REFERENCE_INVALID', { field, value });
  }
  if (subjectScope !== null && !subjectScope.includes(references.subjectId))
    throw fail('REFERENCE_INVALID', { field: 'subjectId', value: references.subjectId });
}

/** Honours `If-Match`. The row must have been found for update, so that its version stays what it is. */
export function checkVersion({ version }: { readonly version: number }, { ifVersion }: Pick<Call, 'ifVersion'>): void {
  if (ifVersion !== null && ifVersion !== version) throw fail('VERSION_MISMATCH', { version });
}

/**
 * Who moves a contract is not for those to say whom that keeps from moving it: naming other roles than before takes the
 * control that approves at the stage where the contract is, on a new one at the stage where it begins.
 */
export function checkRolesControl(
  before: Pick<ContractRow, 'allowedRoles'>,
  { allowedRoles, stageCode, stageCategory }: ContractRow,
  { controls }: Pick<Call, 'controls'>,
): void {
  if (areSameRoles(before.allowedRoles, allowedRoles)) return;
  if (!holds(controlAt(controls, { code: stageCode, category: stageCategory }), 'approve'))
    throw fail('WORKFLOW_CONTROL_REQUIRED', { control: 'approve', stage: stageCode });
}
