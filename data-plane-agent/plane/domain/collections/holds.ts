import type { Day } from '../../../base/day.js';
import { iso } from '../../../base/instants.js';
import type { Issue } from '../../../base/issue.js';
import type { Sound } from '../../../base/sound.js';
import type { Hold, HoldInput } from '../../contract/records/collections.js';
import type { HoldRow } from '../../tables/holds.js';

/** Whether the hold stops reminders on the day. */
export const isActive = ({ until }: Pick<HoldRow, 'until'>, today: Day): boolean => until === null || until >= today;

/** A promise without a day would stop reminders without end, and a day that is over would stop none. */
export const holdIssues = (hold: Sound<HoldInput>, today: Day): Issue[] =>
  hold.until && hold.until < today
    ? [{ path: 'until', problem: `must not be before today, ${today}` }]
    : promiseIssues(hold);

export const promiseIssues = ({ kind, until }: Sound<HoldInput>): Issue[] =>
  kind === 'promise' && !until ? [{ path: 'until', problem: 'is required for a promise' }] : [];

export const holdAnswer = (row: HoldRow, { today }: { readonly today: Day }): Hold => ({
  paymentId: row.id,
  kind: row.kind,
  until: row.until,
  note: row.note,
  isActive: isActive(row, today),
  createdBy: row.createdBy,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
});
