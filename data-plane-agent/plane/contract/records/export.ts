import { s, type Static } from '../../../base/schema.js';
import { ContractQuery } from './contracts.js';

export const EXPORT_PROFILES = ['summary', 'full'] as const;
export type ExportProfile = (typeof EXPORT_PROFILES)[number];

/**
 * How many contracts an export may be asked for by id, and up to how many it settles which ones they are, and their
 * order, before it begins.
 */
export const MAX_EXPORT_IDS = 10_000;
/** Contracts that are read at once: so few that others are served between two chunks within milliseconds. */
export const EXPORT_CHUNK = 50;

const { page: _page, pageSize: _pageSize, ...filters } = ContractQuery.properties;
const ids = s.optional(
  s.list(
    s.id(),
    MAX_EXPORT_IDS,
    'Only these contracts, as far as the other filters select them too. Unknown ones are left out.',
  ),
);

/** Which contracts are exported, and in which order. */
export const ExportFilter = s.object({ ...filters, ids });
export type ExportFilter = Static<typeof ExportFilter>;

/** What a client sends (API document 4.3). */
export const ExportQuery = s.object(
  {
    ...ContractQuery.properties,
    ids,
    profile: s.optional(
      s.enum(
        EXPORT_PROFILES,
        '`summary`, the default: one row for each contract. `full`: one row for each payment line, ready to be imported again.',
      ),
    ),
  },
  { title: 'ContractExport' },
);
export type ExportQuery = Static<typeof ExportQuery>;

/** The name that stands in a cell, where the data plane has only the id. */
export const NAMINGS = ['subjectName', 'memberName', 'memberEmail'] as const;
export type Naming = (typeof NAMINGS)[number];

/** A column as it is written: of the custom field `fieldId`, or one of our own. */
export const ExportColumn = s.object({
  name: s.verbatim({ max: 100 }),
  fieldId: s.nullable(s.id()),
  names: s.nullable(s.enum(NAMINGS)),
});
export type ExportColumn = Static<typeof ExportColumn>;

/**
 * What an export is going to hold: `ids` in their order, or `null` when they are too many and are met one after the
 * other.
 */
export const ExportPlan = s.object({
  columns: s.list(ExportColumn, 1_000),
  ids: s.nullable(s.list(s.id(), MAX_EXPORT_IDS)),
});
export type ExportPlan = Static<typeof ExportPlan>;

/** The contract after which the next ones come, newest first or oldest first. */
export const ExportPlace = s.object({ createdAt: s.integer({ max: Number.MAX_SAFE_INTEGER }), id: s.id() });
export type ExportPlace = Static<typeof ExportPlace>;

/**
 * A cell as it stands in the sheet, guarded against formulas, but for the quotes; of a column with names the id. A list
 * in a cell may be long.
 */
const cells = s.list(s.verbatim({ min: 0, max: 1_000_000_000 }), 1_000);

export const ExportChunk = s.object({
  /** A contract's cells, and those of each of its lines in the profile `full`. */
  contracts: s.list(s.object({ cells, lines: s.list(cells, 1_000_000) }), EXPORT_CHUNK),
  /**
   * How many of the ids that were asked for have been dealt with: too much of one contract leaves the rest for the next
   * time.
   */
  taken: s.integer({ max: EXPORT_CHUNK }),
  /** `null` when there are no more. */
  next: s.nullable(ExportPlace),
});
export type ExportChunk = Static<typeof ExportChunk>;

/** What the audit keeps of an export. */
export const ExportRecord = s.object({
  profile: s.enum(EXPORT_PROFILES),
  filter: ExportFilter,
  contracts: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  rows: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  /** `false` when it broke off, or the client went away. */
  complete: s.flag(),
});
export type ExportRecord = Static<typeof ExportRecord>;
