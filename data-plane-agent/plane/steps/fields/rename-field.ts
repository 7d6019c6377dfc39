import { nameKeyOf } from '../../domain/fields/new-field.js';
import { fieldNamed, refuseTakenName, type Done, type FieldCommandContext } from './command.js';

/** The code stays what it was: others refer to it. An archived field's name is looked at when it comes back. */
export async function renameField({
  context: { store, clock },
  payload: { fieldId, name },
  fields,
}: FieldCommandContext<'RenameField'>): Promise<Done> {
  const field = fieldNamed(fields, 'payload.fieldId', fieldId);
  if (field.name === name) return { field };
  if (!field.archived) refuseTakenName(fields, name, field);
  return {
    field: await store.fields.update(field, { ...field, name, nameKey: nameKeyOf(name), updatedAt: clock.now() }),
  };
}
