import { c, table, type RecordOf } from '../../base/database/columns.js';

export const terms = table('contract_terms', {
  id: c.text('id'),
  contractId: c.text('contract_id'),
  position: c.int('position'),
  kind: c.word<'deposit' | 'delivery' | 'debug' | 'payment' | 'expiry' | 'other'>('kind'),
  title: c.text('title'),
  date: c.orNull(c.text('date')),
  note: c.text('note'),
  createdAt: c.int('created_at'),
  updatedAt: c.int('updated_at'),
});
export type TermRow = RecordOf<typeof terms>;
