import { c, table, type RecordOf } from '../../base/database/columns.js';

export const terms = table(
  'contract_terms',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    position: c.int('position').unaudited(),
    kind: c.word<'deposit' | 'delivery' | 'debug' | 'payment' | 'expiry' | 'other'>('kind'),
    title: c.text('title'),
    date: c.orNull(c.text('date')),
    note: c.text('note'),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'term' },
);
export type TermRow = RecordOf<typeof terms>;
