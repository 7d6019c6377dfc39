import { nameKeyOf } from '../../domain/fields/new-field.js';
import { fieldNamed, refuseTakenName, type CommandOutcome, type FieldCommandContext } from './command.js';

/** Keeps the code, since other records refer to it. An archived field's name is checked when it is restored. */
export async function renameField({
  context: { store, clock },
  payload: { fieldId, name },
  fields,
}: FieldCommandContext<'RenameField'>): Promise<CommandOutcome> {
  const field = fieldNamed(fields, 'payload.fieldId', fieldId);
  if (field.name === name) return { field };
  if (!field.archived) refuseTakenName(fields, name, field);
  return {
    field: await store.fields.update(field, { ...field, name, nameKey: nameKeyOf(name), updatedAt: clock.now() }),
  };
}
