import { closedUp, placed } from '../../domain/fields/placing.js';
import { fieldNamed, moveOthers, refuseTakenName, refuseTooMany, type Done, type Work } from './command.js';

/** Takes a field out of sight with its values, or brings both back, at the end of its section. */
export async function archiveField({ tools, payload, fields }: Work<'ArchiveField'>): Promise<Done> {
  const archived = payload.archived ?? true;
  const field = fieldNamed(fields, 'payload.fieldId', payload.fieldId);
  if (field.archived === archived) return { field };
  const updatedAt = tools.clock.now();
  if (archived) {
    await moveOthers(tools, closedUp(fields, field));
    return { field: await tools.store.fields.update(field, { ...field, archived, updatedAt }) };
  }
  refuseTooMany(fields, { isNew: false });
  refuseTakenName(fields, field.name, field);
  return { field: await tools.store.fields.update(field, { ...placed(fields, field, { section: field.section }).row, archived, updatedAt }) };
}
