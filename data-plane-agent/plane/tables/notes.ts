import { c, table, type RecordOf } from '../../base/database/columns.js';

export const notes = table('contract_notes', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  position: c.int('position'),
  label: c.text('label'),
  value: c.text('value'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type NoteRow = RecordOf<typeof notes>;
