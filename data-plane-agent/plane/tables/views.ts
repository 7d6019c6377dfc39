import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { ContractSort } from '../contract/records/contracts.js';
import type { ViewMode, ViewScope } from '../contract/records/views.js';

export const savedViews = table(
  'saved_views',
  {
    id: c.id('id').unaudited(),
    name: c.text('name'),
    nameKey: c.text('name_key').unaudited(),
    mode: c.word<ViewMode>('mode'),
    scope: c.word<ViewScope>('scope'),
    /** The owner of a personal view; the maintainer of a team view. */
    ownerId: c.orNull(c.id('owner_id')),
    groupBy: c.text('group_by'),
    filters: c.json<Record<string, unknown>>('filters'),
    sortKey: c.word<ContractSort>('sort_key'),
    visibleFields: c.json<string[]>('visible_fields'),
    cardFields: c.json<string[]>('card_fields'),
    description: c.orNull(c.text('description')),
    createdBy: c.orNull(c.id('created_by')).unaudited(),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'saved_view' },
);
export type SavedViewRow = RecordOf<typeof savedViews>;
