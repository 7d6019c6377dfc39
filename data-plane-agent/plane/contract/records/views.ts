import { s, partial, type Static } from '../../../base/schema.js';
import { stamps, warnings } from './common.js';
import { CONTRACT_SORTS, ContractQuery, contractDetailProperties } from './contracts.js';

export const VIEW_MODES = ['table', 'board', 'calendar', 'tasks'] as const;
export const VIEW_SCOPES = ['personal', 'team'] as const;
export type ViewMode = (typeof VIEW_MODES)[number];
export type ViewScope = (typeof VIEW_SCOPES)[number];

/** The maximum number of personal views that a member may create, and of team views of a tenant. */
export const MAX_VIEWS = 200;

/** The allowed filters of a view: the query parameters of the contract list. */
export const VIEW_FILTERS: ReadonlySet<string> = new Set(Object.keys(ContractQuery.properties));

/**
 * The contract fields that a view may show or group by; custom fields are referred to by their id. The control plane
 * adds the last three.
 */
export const VIEW_COLUMNS: ReadonlySet<string> = new Set([
  ...Object.keys(contractDetailProperties).filter((name) => name !== 'warnings'),
  'subjectName',
  'ownerName',
  'ownerSuperiorName',
]);

/** The allowed groupings, except custom fields: a field, none, or a filter that is not a field. */
export const VIEW_GROUPINGS: ReadonlySet<string> = new Set(['none', 'payment', ...VIEW_COLUMNS]);

const columns = (about: string) => s.list(s.text({ max: 100 }), 300, about);

/** A saved view as a client sends it (API document 2.13). */
export const SavedViewInput = s.object(
  {
    name: s.name(),
    mode: s.enum(VIEW_MODES),
    scope: s.optional(s.enum(VIEW_SCOPES, 'Default: personal.')),
    groupBy: s.text({ max: 100, about: 'A field of contracts, `payment`, the id of a custom field, or `none`.' }),
    filters: s.free('By query parameter of `GET /contracts`: each a text, number, flag, or a list of these.'),
    sortKey: s.enum(CONTRACT_SORTS),
    visibleFields: columns('Fields of contracts and ids of custom fields, in their order.'),
    cardFields: columns('The same, for cards.'),
    description: s.optional(s.longText()),
  },
  { title: 'SavedViewInput' },
);
export type SavedViewInput = Static<typeof SavedViewInput>;
export const SavedViewPatch = partial(SavedViewInput, { title: 'SavedViewPatch' });
export type SavedViewPatch = Static<typeof SavedViewPatch>;

export const SavedView = s.object(
  {
    id: s.id(),
    name: s.text(),
    mode: s.enum(VIEW_MODES),
    scope: s.enum(VIEW_SCOPES),
    groupBy: s.text({ max: 100 }),
    filters: s.free(),
    sortKey: s.enum(CONTRACT_SORTS),
    visibleFields: columns('The fields that exist and that the caller may see.'),
    cardFields: columns('The fields that exist and that the caller may see.'),
    description: s.nullable(s.longText()),
    ownerId: s.nullable(s.id('The owner of a personal view, or the maintainer of a team view.')),
    createdBy: s.nullable(s.id()),
    warnings,
    ...stamps,
  },
  { title: 'SavedView' },
);
export type SavedView = Static<typeof SavedView>;

/** Longer than the two limits, because a handover may give a member more personal views than they may create. */
export const SavedViewList = s.list(
  SavedView,
  100_000,
  "A plain array: a member may create at most 200 personal views, an organisation 200 team views; a handover adds a former member's views.",
);
