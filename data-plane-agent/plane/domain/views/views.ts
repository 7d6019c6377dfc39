import { warn } from '../../../base/warnings.js';
import { isId } from '../../../base/ids.js';
import type { Issue } from '../../../base/validation.js';
import type { Warning } from '../../contract/records/common.js';
import {
  VIEW_COLUMNS,
  VIEW_FILTERS,
  VIEW_GROUPINGS,
  type SavedView,
  type SavedViewInput,
  type SavedViewPatch,
} from '../../contract/records/views.js';
import { iso } from '../../../base/instants.js';
import { fold } from '../search.js';
import type { SavedViewRow } from '../../tables/views.js';

/** Names are unique whatever their case. */
export const viewKey = (name: string): string => fold(name);

/**
 * What is wrong with a view beyond its form: filters that the list does not have, or a grouping by what no contract
 * has.
 */
export function viewIssues({
  filters,
  groupBy,
}: {
  readonly filters?: SavedViewPatch['filters'] | undefined;
  readonly groupBy?: string | undefined;
}): Issue[] {
  return [
    ...Object.entries(filters ?? {}).flatMap(([key, value]) => filterIssue(key, value)),
    ...(groupBy === undefined || VIEW_GROUPINGS.has(groupBy) || isId(groupBy)
      ? []
      : [{ path: 'groupBy', problem: 'must be a field of contracts, payment, the id of a custom field, or none' }]),
  ];
}

/**
 * A value is not held against what the list takes: it may be a relative one (`today`), which the reader's day decides.
 */
function filterIssue(key: string, value: unknown): Issue[] {
  const path = `filters.${key}`.slice(0, 300);
  if (!VIEW_FILTERS.has(key)) return [{ path, problem: 'is not a known filter' }];
  return [value].flat().every(isScalar)
    ? []
    : [{ path, problem: 'must be a text, a number, a flag, or a list of these' }];
}

const isScalar = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value);

interface Made {
  readonly id: string;
  readonly actorId: string | null;
  readonly now: number;
}

export const newView = (input: SavedViewInput, { id, actorId, now }: Made): SavedViewRow => ({
  id,
  name: input.name,
  nameKey: viewKey(input.name),
  mode: input.mode,
  scope: input.scope ?? 'personal',
  ownerId: actorId,
  groupBy: input.groupBy,
  filters: input.filters,
  sortKey: input.sortKey,
  visibleFields: [...new Set(input.visibleFields)],
  cardFields: [...new Set(input.cardFields)],
  description: input.description ?? null,
  createdBy: actorId,
  createdAt: now,
  updatedAt: now,
});

/** A team view that is made personal becomes that of whoever does so. */
export function patchedView(
  row: SavedViewRow,
  patch: SavedViewPatch,
  { actorId, now }: Omit<Made, 'id'>,
): SavedViewRow {
  const name = patch.name ?? row.name;
  const scope = patch.scope === undefined ? row.scope : (patch.scope ?? 'personal');
  return {
    ...row,
    name,
    nameKey: viewKey(name),
    mode: patch.mode ?? row.mode,
    scope,
    ownerId: scope === row.scope ? row.ownerId : actorId,
    groupBy: patch.groupBy ?? row.groupBy,
    filters: patch.filters ?? row.filters,
    sortKey: patch.sortKey ?? row.sortKey,
    visibleFields: patch.visibleFields ? [...new Set(patch.visibleFields)] : row.visibleFields,
    cardFields: patch.cardFields ? [...new Set(patch.cardFields)] : row.cardFields,
    description: patch.description === undefined ? row.description : patch.description,
    updatedAt: now,
  };
}

export const isSameView = (before: SavedViewRow, after: SavedViewRow): boolean =>
  (Object.keys(after) as (keyof SavedViewRow)[]).every(
    (field) =>
      field === 'updatedAt' ||
      before[field] === after[field] ||
      JSON.stringify(before[field]) === JSON.stringify(after[field]),
  );

/**
 * The view as one reader may see it: `customFields` are the ids of those that he sees. What is left out stays kept, for
 * it may come back.
 */
export function viewAnswer(row: SavedViewRow, customFields: ReadonlySet<string>): SavedView {
  const isShown = (column: string) => VIEW_COLUMNS.has(column) || customFields.has(column);
  const visibleFields = row.visibleFields.filter(isShown);
  const cardFields = row.cardFields.filter(isShown);
  const groupBy = VIEW_GROUPINGS.has(row.groupBy) || customFields.has(row.groupBy) ? row.groupBy : 'none';
  const dropped = {
    visibleFields: row.visibleFields.length - visibleFields.length,
    cardFields: row.cardFields.length - cardFields.length,
    groupBy: groupBy === row.groupBy ? 0 : 1,
  };
  const { id, name, mode, scope, filters, sortKey, description, ownerId, createdBy } = row;
  return {
    id,
    name,
    mode,
    scope,
    groupBy,
    filters,
    sortKey,
    visibleFields,
    cardFields,
    description,
    ownerId,
    createdBy,
    warnings: droppedWarnings(dropped),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** Which ones is not said: that a field is hidden from somebody is not his to know. */
const droppedWarnings = (dropped: Readonly<Record<string, number>>): Warning[] =>
  Object.entries(dropped)
    .filter(([, count]) => count > 0)
    .map(([list, count]) =>
      warn('COLUMNS_LEFT_OUT', {
        message: `${list}: ${count === 1 ? 'one field is' : `${count} fields are`} not there or not visible to the reader, and left out.`,
      }),
    );

const MAX_NAME = 500;

/** The name under which a view comes to a successor: it says whose it was, and is one that he does not have yet. */
export function handedName(name: string, memberName: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const suffix = ` (from ${memberName})${n === 1 ? '' : ` ${n}`}`;
    const candidate = [...name].slice(0, Math.max(1, MAX_NAME - [...suffix].length)).join('') + suffix;
    if (!taken.has(viewKey(candidate))) return candidate;
  }
}
