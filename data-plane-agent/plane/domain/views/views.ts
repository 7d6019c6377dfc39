import { warn } from '../../../base/warnings.js';
import { isId } from '../../../base/ids.js';
import type { Issue } from '../../../base/issue.js';
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

/** The key under which a name must be unique, regardless of case. */
export const viewKey = (name: string): string => fold(name);

/** The issues of a view beyond its schema: unknown filters, or an unknown grouping. */
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
 * The value of a filter is not checked against the list's filter: it may be relative (`today`), and is resolved by the
 * reader.
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

/** A team view made personal becomes that of the caller. */
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
 * The view for one reader. `customFields` are the ids that the reader may see. Columns left out stay stored, since they
 * may become visible again.
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

/** The message does not name the fields, since the reader may not know of hidden ones. */
const droppedWarnings = (dropped: Readonly<Record<string, number>>): Warning[] =>
  Object.entries(dropped)
    .filter(([, count]) => count > 0)
    .map(([list, count]) =>
      warn('COLUMNS_LEFT_OUT', {
        message: `${list}: ${count === 1 ? 'one field is' : `${count} fields are`} missing or not visible to the reader, and left out.`,
      }),
    );

const MAX_NAME = 500;

/**
 * The name of a view handed over to a successor: it contains the former owner's name, and is unique among the
 * successor's views.
 */
export function handedName(name: string, memberName: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const suffix = ` (from ${memberName})${n === 1 ? '' : ` ${n}`}`;
    const candidate = [...name].slice(0, Math.max(1, MAX_NAME - [...suffix].length)).join('') + suffix;
    if (!taken.has(viewKey(candidate))) return candidate;
  }
}
