import { c, table, type RecordOf } from '../../../base/database/columns.js';
import type { FieldOption, FieldSettings, FieldType, FieldValue } from '../../contract/records/fields.js';

/** The definitions of custom fields. Options and settings outlive a change of type, so that changing back finds them. */
export const dynamicFields = table('dynamic_fields', {
  id: c.text('id'),
  code: c.text('code'),
  name: c.text('name'),
  /** Names are unique among live fields whatever their case. */
  nameKey: c.text('name_key'),
  description: c.orNull(c.text('description')),
  type: c.word<FieldType>('type'),
  required: c.flag('required'),
  options: c.json<readonly FieldOption[]>('options'),
  defaultValue: c.json<FieldValue | null>('default_value'),
  settings: c.json<Partial<FieldSettings>>('settings'),
  typeCodes: c.json<readonly string[]>('type_codes'),
  visibleRoles: c.json<readonly string[]>('visible_roles'),
  editableRoles: c.json<readonly string[]>('editable_roles'),
  /** From 1 within the section; of an archived field, the place that it had. */
  position: c.int('position'),
  section: c.orNull(c.text('section')),
  archived: c.flag('archived'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
  version: c.int('version'),
});
export type FieldRow = RecordOf<typeof dynamicFields>;

/** `null` is the role of a job, and of whoever has the machine: they see and write every field. */
export type RoleCode = string | null;

export const visibleTo = ({ visibleRoles }: Pick<FieldRow, 'visibleRoles'>, roleCode: RoleCode): boolean => roleCode === null || visibleRoles.length === 0 || visibleRoles.includes(roleCode);

/** Whoever may not see a field cannot write it either. */
export const editableBy = (field: Pick<FieldRow, 'visibleRoles' | 'editableRoles'>, roleCode: RoleCode): boolean =>
  visibleTo(field, roleCode) && (roleCode === null || field.editableRoles.length === 0 || field.editableRoles.includes(roleCode));

/** Whether contracts of this kind have the field. A contract without a type code goes by its type, which is also the code of a shipped type. */
export const appliesTo = ({ typeCodes }: Pick<FieldRow, 'typeCodes'>, contract: { readonly type: string; readonly typeCode: string | null }): boolean => typeCodes.length === 0 || typeCodes.includes(contract.typeCode ?? contract.type);

export const isChoice = (type: FieldType): boolean => type === 'select' || type === 'multi_select';

/** By section (none first), then by place in it. */
export const inOrder = (a: FieldRow, b: FieldRow): number => compare(a.section ?? '', b.section ?? '') || a.position - b.position || compare(a.id, b.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
