import { c, table, type RecordOf } from '../../base/database/columns.js';

export const notes = table(
  'contract_notes',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    position: c.int('position').unaudited(),
    label: c.text('label'),
    value: c.text('value'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'note' },
);
export type NoteRow = RecordOf<typeof notes>;
