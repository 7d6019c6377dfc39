import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { FieldOption, FieldSettings, FieldType, FieldValue } from '../contract/records/fields.js';

/**
 * The definitions of custom fields. Options and settings are kept across changes of type, so that changing back
 * restores them.
 */
export const dynamicFields = table(
  'dynamic_fields',
  {
    id: c.id('id').unaudited(),
    code: c.text('code'),
    name: c.text('name'),
    /** Names are unique among live fields, ignoring case. */
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
    /** From 1 within the section; an archived field keeps its last position. */
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
 * The values that a contract's field had under earlier types, and the value they were converted to. They can be
 * restored as long as that value is unchanged.
 */
export const fieldForms = table('dynamic_field_forms', {
  fieldId: c.id('field_id'),
  contractId: c.id('contract_id'),
  forms: c.json<Forms>('forms'),
  became: c.json<FieldValue | null>('became'),
  /** When the last of the earlier values is deleted. */
  expiresAt: c.instant('expires_at'),
});
export type FormsRow = RecordOf<typeof fieldForms>;
/** By the field's type at the time. */
export type Forms = Readonly<Partial<Record<FieldType, { readonly value: FieldValue | null; readonly until: number }>>>;
