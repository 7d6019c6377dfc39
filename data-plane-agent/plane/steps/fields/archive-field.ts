import { closedUp, placed } from '../../domain/fields/placing.js';
import {
  fieldNamed,
  moveOthers,
  refuseTakenName,
  refuseTooMany,
  type CommandOutcome,
  type FieldCommandContext,
} from './command.js';

/** Archives a field, which hides it and its values, or restores it at the end of its section. */
export async function archiveField({
  context,
  payload,
  fields,
}: FieldCommandContext<'ArchiveField'>): Promise<CommandOutcome> {
  const archived = payload.archived ?? true;
  const field = fieldNamed(fields, 'payload.fieldId', payload.fieldId);
  if (field.archived === archived) return { field };
  const updatedAt = context.clock.now();
  if (archived) {
    await moveOthers(context, closedUp(fields, field));
    return { field: await context.store.fields.update(field, { ...field, archived, updatedAt }) };
  }
  refuseTooMany(fields, { isNew: false });
  refuseTakenName(fields, field.name, field);
  return {
    field: await context.store.fields.update(field, {
      ...placed(fields, field, { section: field.section }).row,
      archived,
      updatedAt,
    }),
  };
}
