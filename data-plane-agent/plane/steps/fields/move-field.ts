import { invalid } from '../../../base/failures.js';
import type { PayloadOf } from '../../contract/records/fields.js';
import type { FieldRow } from '../../tables/fields.js';
import { wayOf } from '../../domain/fields/payload-issues.js';
import { placed, type FieldPosition } from '../../domain/fields/placing.js';
import { fieldNamed, moveOthers, type CommandOutcome, type FieldCommandContext } from './command.js';

/** Moves a field and renumbers the others of the section from 1, without gaps. */
export async function moveField({
  context,
  payload,
  fields,
}: FieldCommandContext<'MoveField'>): Promise<CommandOutcome> {
  const field = live(fields, 'payload.fieldId', payload.fieldId);
  const at = placed(fields, field, placeOf(payload, field, fields));
  await moveOthers(context, at.others);
  if (at.row.position === field.position && at.row.section === field.section) return { field };
  return { field: await context.store.fields.update(field, { ...at.row, updatedAt: context.clock.now() }) };
}

function placeOf(payload: PayloadOf<'MoveField'>, field: FieldRow, fields: readonly FieldRow[]): FieldPosition {
  const { order, beforeFieldId, afterFieldId, section } = payload;
  const key = wayOf(payload);
  // A new section without a position means its end; the same section is no move.
  if (key === undefined)
    return (section ?? null) === field.section
      ? { section: field.section, at: field.position }
      : { section: section ?? null };
  if (key === 'order') return { section: section === undefined ? field.section : section, at: order ?? 1 };
  const id = (key === 'beforeFieldId' ? beforeFieldId : afterFieldId) ?? '';
  const other = live(fields, `payload.${key}`, id);
  // The field's current section is accepted beside another target; any third section contradicts it.
  if (section !== undefined && section !== other.section && section !== field.section)
    throw invalid({ path: 'payload.section', problem: `must be the section of ${key}, or be left out` });
  if (other.id === field.id) return { section: field.section, at: field.position };
  // The field first leaves its position.
  const otherAt = other.position - (field.section === other.section && field.position < other.position ? 1 : 0);
  return { section: other.section, at: key === 'beforeFieldId' ? otherAt : otherAt + 1 };
}

function live(fields: readonly FieldRow[], path: string, id: string): FieldRow {
  const field = fieldNamed(fields, path, id);
  if (field.archived) throw invalid({ path, problem: 'is archived and has no position' });
  return field;
}
