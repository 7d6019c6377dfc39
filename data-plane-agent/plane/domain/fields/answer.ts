import type { DynamicField, FieldSettings, FieldType } from '../../contract/records/fields.js';
import type { FieldRow } from '../../tables/fields.js';
import { isChoice } from './definition.js';
import { iso } from '../../../base/instants.js';

/** The API representation of a definition, without options and settings that do not apply to its type. */
export function fieldAnswer(row: FieldRow): DynamicField {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    description: row.description,
    type: row.type,
    required: row.required,
    options: isChoice(row.type) ? [...row.options] : [],
    defaultValue: isList(row.defaultValue) ? [...row.defaultValue] : row.defaultValue,
    settings: settingsOf(row),
    typeCodes: [...row.typeCodes],
    visibleRoles: [...row.visibleRoles],
    editableRoles: [...row.editableRoles],
    order: row.position,
    section: row.section,
    archived: row.archived,
    version: row.version,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

const NUMERIC = ['precision', 'min', 'max'] as const;
/** The settings that apply to each type. */
const APPLICABLE: Readonly<Partial<Record<FieldType, readonly (keyof FieldSettings)[]>>> = {
  text: ['maxLength'],
  long_text: ['maxLength'],
  number: [...NUMERIC, 'unit'],
  percent: NUMERIC,
  currency: [...NUMERIC, 'currencyCode'],
};

export const meansTo = (type: FieldType, setting: keyof FieldSettings): boolean =>
  APPLICABLE[type]?.includes(setting) ?? false;

/** The settings in effect: those that apply to the field's type. */
export function settingsOf({ type, settings }: Pick<FieldRow, 'type' | 'settings'>): FieldSettings {
  const own = <K extends keyof FieldSettings>(key: K): FieldSettings[K] | null =>
    meansTo(type, key) ? (settings[key] ?? null) : null;
  return {
    precision: own('precision'),
    currencyCode: own('currencyCode'),
    min: own('min'),
    max: own('max'),
    maxLength: own('maxLength'),
    unit: own('unit'),
  };
}
