import { s, type Static } from '../../../base/schema.js';
import { ContractQuery } from './contracts.js';

export const EXPORT_PROFILES = ['summary', 'full'] as const;
export type ExportProfile = (typeof EXPORT_PROFILES)[number];

/**
 * The maximum number of ids in a request. An export of at most this many contracts determines their ids and order
 * before it starts.
 */
export const MAX_EXPORT_IDS = 10_000;
/** Contracts per chunk: few enough that the event loop is blocked only for milliseconds. */
export const EXPORT_CHUNK = 50;

const { page: _page, pageSize: _pageSize, ...filters } = ContractQuery.properties;
const ids = s.optional(
  s.list(s.id(), MAX_EXPORT_IDS, 'Only these contracts, if the other filters match them too. Unknown ids are ignored.'),
);

/** Selects and orders the exported contracts. */
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
        '`summary`, the default: one row for each contract. `full`: one row for each payment line, which can be imported again.',
      ),
    ),
  },
  { title: 'ContractExport' },
);
export type ExportQuery = Static<typeof ExportQuery>;

/** Names shown in cells for which the data plane has only the id. */
export const NAMINGS = ['subjectName', 'memberName', 'memberEmail'] as const;
export type Naming = (typeof NAMINGS)[number];

/** A column of the file: of the custom field `fieldId`, or a built-in one. */
export const ExportColumn = s.object({
  name: s.verbatim({ max: 100 }),
  fieldId: s.nullable(s.id()),
  names: s.nullable(s.enum(NAMINGS)),
});
export type ExportColumn = Static<typeof ExportColumn>;

/**
 * The content of an export: `ids` in their order, or `null` if there are too many, which are then read page by page.
 */
export const ExportPlan = s.object({
  columns: s.list(ExportColumn, 1_000),
  ids: s.nullable(s.list(s.id(), MAX_EXPORT_IDS)),
});
export type ExportPlan = Static<typeof ExportPlan>;

/** The position in the list after which the next chunk starts. */
export const ExportPlace = s.object({ createdAt: s.integer({ max: Number.MAX_SAFE_INTEGER }), id: s.id() });
export type ExportPlace = Static<typeof ExportPlace>;

/**
 * A cell of the sheet, escaped against formulas but not yet quoted; the id in a column of names. A list in a cell may
 * be long.
 */
const cells = s.list(s.verbatim({ min: 0, max: 1_000_000_000 }), 1_000);

export const ExportChunk = s.object({
  /** A contract's cells and, in the profile `full`, the cells of each of its lines. */
  contracts: s.list(s.object({ cells, lines: s.list(cells, 1_000_000) }), EXPORT_CHUNK),
  /** The number of requested ids that were processed: a very large contract ends the chunk early. */
  taken: s.integer({ max: EXPORT_CHUNK }),
  /** `null` when there are no more. */
  next: s.nullable(ExportPlace),
});
export type ExportChunk = Static<typeof ExportChunk>;

/** The audit record of an export. */
export const ExportRecord = s.object({
  profile: s.enum(EXPORT_PROFILES),
  filter: ExportFilter,
  contracts: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  rows: s.integer({ max: Number.MAX_SAFE_INTEGER }),
  /** `false` when the export failed or the client disconnected. */
  complete: s.flag(),
});
export type ExportRecord = Static<typeof ExportRecord>;
