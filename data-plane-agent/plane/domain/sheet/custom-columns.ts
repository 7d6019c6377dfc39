import type { FieldType } from '../../contract/records/fields.js';
import type { ExportColumn } from '../../contract/records/export.js';
import type { FieldRow } from '../../tables/fields.js';
import { valueText } from '../fields/values.js';
import type { ContractRow } from '../../tables/contracts.js';
import { CUSTOM_FIELD } from './columns.js';
import { guarded } from './guard.js';

/** The column of a custom field. Members are written as ids, which the control plane replaces. */
export const customColumn = ({ id, code, type }: FieldRow): ExportColumn => ({
  name: `${CUSTOM_FIELD}${code}`,
  fieldId: id,
  names: type === 'user' ? 'memberEmail' : null,
});

/** The cells of a contract for these custom fields; empty when the caller may not see the field (any more). */
export const customCells = (
  row: ContractRow,
  fieldIds: readonly string[],
  visible: ReadonlyMap<string, FieldRow>,
): string[] =>
  fieldIds.map((id) => {
    const field = visible.get(id);
    if (!field) return '';
    const text = valueText(field, row.dynamicFields[id]);
    return UNGUARDED.has(field.type) ? text : guarded(text);
  });

/** Types whose text is generated and cannot begin a formula, so that negative numbers stay numbers. */
const UNGUARDED: ReadonlySet<FieldType> = new Set<FieldType>([
  'number',
  'currency',
  'percent',
  'date',
  'datetime',
  'boolean',
]);
