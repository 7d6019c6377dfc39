import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { HoldKind } from '../contract/vocabulary.js';

/** Reasons not to remind of a payment line for a while; at most one per line, whose id it has. */
export const holds = table(
  'line_holds',
  {
    id: c.id('id').unaudited(),
    contractId: c.id('contract_id').unaudited(),
    kind: c.word<HoldKind>('kind'),
    /** The last day without reminders; `null` means until the hold is removed. */
    until: c.orNull(c.text('until_day')),
    note: c.orNull(c.text('note')),
    createdBy: c.orNull(c.id('created_by')).unaudited(),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'hold' },
);
export type HoldRow = RecordOf<typeof holds>;
