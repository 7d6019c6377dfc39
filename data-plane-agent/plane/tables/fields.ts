import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { FieldOption, FieldSettings, FieldType, FieldValue } from '../contract/records/fields.js';

/**
 * The definitions of custom fields. Options and settings outlive a change of type, so that changing back finds them.
 */
export const dynamicFields = table(
  'dynamic_fields',
  {
    id: c.text('id').unaudited(),
    code: c.text('code'),
    name: c.text('name'),
    /** Names are unique among live fields whatever their case. */
    nameKey: c.text('name_key').unaudited(),
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
    position: c.int('position').auditedAs('order'),
    section: c.orNull(c.text('section')),
    archived: c.flag('archived'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
    version: c.int('version').unaudited(),
  },
  { audit: 'dynamic_field', facts: ['values'] },
);
export type FieldRow = RecordOf<typeof dynamicFields>;

/**
 * The forms that a contract's value had under other types of its field, and what it became: as long as it is still
 * that, nobody has touched it.
 */
export const fieldForms = table('dynamic_field_forms', {
  fieldId: c.text('field_id'),
  contractId: c.text('contract_id'),
  forms: c.json<Forms>('forms'),
  became: c.json<FieldValue | null>('became'),
  /** When the last of the forms is forgotten. */
  expiresAt: c.instant('expires_at'),
});
export type FormsRow = RecordOf<typeof fieldForms>;
/** By the type that the field had. */
export type Forms = Readonly<Partial<Record<FieldType, { readonly value: FieldValue | null; readonly until: number }>>>;
