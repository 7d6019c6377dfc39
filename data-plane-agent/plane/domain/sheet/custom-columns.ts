import type { FieldType } from '../../contract/records/fields.js';
import type { ExportColumn } from '../../contract/records/export.js';
import type { FieldRow } from '../../tables/fields.js';
import { valueText } from '../fields/values.js';
import type { ContractRow } from '../../tables/contracts.js';
import { CUSTOM_FIELD } from './columns.js';
import { guarded } from './guard.js';

/** The column of a custom field. Members are written by id, and named by the control plane. */
export const customColumn = ({ id, code, type }: FieldRow): ExportColumn => ({
  name: `${CUSTOM_FIELD}${code}`,
  fieldId: id,
  names: type === 'user' ? 'memberEmail' : null,
});

/**
 * A contract's cells under the custom fields of these ids; empty where the caller may not see the field, or not any
 * more.
 */
export const customCells = (
  row: ContractRow,
  fieldIds: readonly string[],
  visible: ReadonlyMap<string, FieldRow>,
): string[] =>
  fieldIds.map((id) => {
    const field = visible.get(id);
    if (!field) return '';
    const text = valueText(field, row.dynamicFields[id]);
    return OURS.has(field.type) ? text : guarded(text);
  });

/** Types whose text we make, so that no formula is in it: a negative number stays a number. */
const OURS: ReadonlySet<FieldType> = new Set<FieldType>([
  'number',
  'currency',
  'percent',
  'date',
  'datetime',
  'boolean',
]);
