import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import { areSameRoles, requireControl } from '../lifecycle/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';

interface References {
  readonly subjectId: string;
  readonly ownerId: string;
  readonly ownerSuperiorId: string | null;
}

/**
 * Refuses malformed ids, and subject companies outside the caller's scope. The control plane has checked before that
 * the members and the company exist.
 */
export function checkReferenceForm(references: References, { subjectScope }: Pick<Call, 'subjectScope'>): void {
  for (const field of ['subjectId', 'ownerId', 'ownerSuperiorId'] as const) {
    const value = references[field];
    if (value !== null && !isId(value)) throw fail('REFERENCE_INVALID', { field, value });
  }
  if (subjectScope !== null && !subjectScope.includes(references.subjectId))
    throw fail('REFERENCE_INVALID', { field: 'subjectId', value: references.subjectId });
}

/** Checks `If-Match`. The row must have been read for update, so that its version cannot change. */
export function checkVersion({ version }: { readonly version: number }, { ifVersion }: Pick<Call, 'ifVersion'>): void {
  if (ifVersion !== null && ifVersion !== version) throw fail('VERSION_MISMATCH', { version });
}

/**
 * Refuses a change of the roles that may move a contract to callers without the control `approve` at the contract's
 * stage, since the list may exclude others from moving it.
 */
export function checkRolesControl(
  before: Pick<ContractRow, 'allowedRoles'>,
  { allowedRoles, stageCode, stageCategory }: ContractRow,
  { controls }: Pick<Call, 'controls'>,
): void {
  if (areSameRoles(before.allowedRoles, allowedRoles)) return;
  requireControl(controls, { code: stageCode, category: stageCategory }, 'approve');
}
