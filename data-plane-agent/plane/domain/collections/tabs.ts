import type { CollectionTab } from '../../contract/vocabulary.js';

/** The lines of each tab of the collections. */
export const COLLECTED = {
  overdue: 'overdue',
  soon: 'due_soon',
  all: 'overdue_or_due_soon',
} as const satisfies Readonly<Record<CollectionTab, string>>;
