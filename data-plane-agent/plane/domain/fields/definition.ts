import type { FieldType } from '../../contract/records/fields.js';
import type { FieldRow } from '../../tables/fields.js';

/** `null` is the role of background jobs and of the local operator, who see and may write every field. */
export type RoleCode = string | null;

export const visibleTo = ({ visibleRoles }: Pick<FieldRow, 'visibleRoles'>, roleCode: RoleCode): boolean =>
  roleCode === null || visibleRoles.length === 0 || visibleRoles.includes(roleCode);

/** A field that a role cannot see is not editable by it either. */
export const editableBy = (field: Pick<FieldRow, 'visibleRoles' | 'editableRoles'>, roleCode: RoleCode): boolean =>
  visibleTo(field, roleCode) &&
  (roleCode === null || field.editableRoles.length === 0 || field.editableRoles.includes(roleCode));

/**
 * Whether a field applies to a contract. A contract without a type code uses its type, which is also the code of the
 * shipped type.
 */
export const appliesTo = (
  { typeCodes }: Pick<FieldRow, 'typeCodes'>,
  contract: { readonly type: string; readonly typeCode: string | null },
): boolean => typeCodes.length === 0 || typeCodes.includes(contract.typeCode ?? contract.type);

export const isChoice = (type: FieldType): boolean => type === 'select' || type === 'multi_select';

/** Orders fields by section (none first), then by position. */
export const inOrder = (a: FieldRow, b: FieldRow): number =>
  compare(a.section ?? '', b.section ?? '') || a.position - b.position || compare(a.id, b.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
