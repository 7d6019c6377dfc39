import Type from 'typebox';
import { FAILURES, type FailureCode } from '../../../base/failures.js';
import { s, type Static, type TSchema } from '../../../base/schema.js';
import { Warning } from './common.js';
import { ContractInput } from './contracts.js';
import { People } from './people.js';
import { MAX_IMPORT_ROWS, Sheet } from './sheet.js';

/** Reasons that are told of one row; a row of a sheet has hardly more. */
export const MAX_ROW_ERRORS = 50;
/** Reasons of all rows: beyond, each row is told its first. */
export const MAX_REPORT_ERRORS = 20_000;
/** How long a batch can be asked for again, in days. */
export const BATCH_DAYS = 30;

/** Languages of the labels in an empty file to fill in. */
export const TEMPLATE_LANGUAGES = ['en', 'zh'] as const;

/**
 * A contract as a row sends it: the fields are known or refused, at every level, and what stands in them is looked at
 * row by row, so that a bad value is that row's own affair.
 */
const ContractRow = Type.Unsafe<Record<string, unknown>>({
  ...fieldsOf(ContractInput),
  title: 'ContractRow',
  description:
    'The fields of `ContractInput`. A value that is missing or not valid fails the row, and an unknown field or a row that is no object the whole request. `subjectId` may be a name, `ownerId` and `ownerSuperiorId` an e-mail address, `lifecycleTemplateId` a code.',
});

/** A little less than a body may have. */
const BYTES = 16_000_000;

/** What a client sends (API document 4.3). */
export const ContractImport = s.object(
  {
    rows: s.optional(s.list(ContractRow, MAX_IMPORT_ROWS)),
    xlsxBase64: s.optional(s.verbatim({ max: BYTES, about: 'An .xlsx workbook in base64.' })),
    sheetName: s.optional(s.text({ max: 100, about: 'Of the workbook; its first sheet by default.' })),
    csv: s.optional(
      s.verbatim({ max: BYTES, about: 'The text of a CSV file, with commas, semicolons or tabs between its cells.' }),
    ),
  },
  { title: 'ContractImport' },
);
export type ContractImport = Static<typeof ContractImport>;

/** What the data plane is handed: `rows`, or what a file held. */
export const ImportInput = s.object({
  rows: s.nullable(s.list(ContractRow, MAX_IMPORT_ROWS)),
  sheet: s.nullable(Sheet),
  people: People,
  /** The tenant's roles; where they are not told, `workflowAllowedRoles` are taken as they come. */
  roleCodes: s.omittable(s.list(s.text({ max: 64 }), 1_000)),
});
export type ImportInput = Static<typeof ImportInput>;

export const ImportError = s.object(
  {
    field: s.nullable(
      s.text({ max: 400, about: 'The column, or the path in `rows`; `null` when it is the row as a whole.' }),
    ),
    code: s.enum(Object.keys(FAILURES) as FailureCode[]),
    message: s.text({ max: 1_000 }),
    value: s.nullable(
      s.verbatim({
        min: 0,
        max: 200,
        about: 'As it came, its first 100 characters; account numbers as the caller may see them.',
      }),
    ),
  },
  { title: 'ImportError' },
);
export type ImportError = Static<typeof ImportError>;

export const ImportedRow = s.object(
  {
    row: s.integer({
      min: 1,
      about: 'The record in the file, of which the header is 1; in `rows` the place, from 1 on.',
    }),
    status: s.enum(['created', 'failed', 'skipped'], '`skipped`: a blank row.'),
    contractId: s.omittable(s.id()),
    contractNo: s.omittable(s.verbatim({ max: 1_000 })),
    errors: s.omittable(s.list(ImportError, MAX_ROW_ERRORS)),
    warnings: s.omittable(
      s.list(
        Warning,
        100,
        'Of a row that was entered: what deserves a look. A preview names no lines but those that are there.',
      ),
    ),
  },
  { title: 'ImportedRow' },
);
export type ImportedRow = Static<typeof ImportedRow>;

export const ImportReport = s.object(
  {
    batchId: s.nullable(s.id(`Under which the report is kept for ${BATCH_DAYS} days; \`null\` in a preview.`)),
    total: s.integer({ about: 'Rows; `created`, `failed` and `skipped` are rows too, and add up to it.' }),
    created: s.integer(),
    failed: s.integer(),
    skipped: s.integer(),
    contracts: s.integer({ about: 'Contracts that were made: several rows of a file may be one.' }),
    unknownColumns: s.list(s.text({ max: 200 }), 500, 'Headers that name no field: their cells were left out.'),
    rows: s.list(ImportedRow, 2 * MAX_IMPORT_ROWS),
  },
  { title: 'ImportReport' },
);
export type ImportReport = Static<typeof ImportReport>;

/** The structure of a schema without its rules: which fields an object may have, at every level. */
function fieldsOf(schema: TSchema): Record<string, unknown> {
  const { properties, items, additionalProperties } = schema as {
    properties?: Record<string, TSchema>;
    items?: TSchema;
    additionalProperties?: unknown;
  };
  return {
    ...(properties && additionalProperties === false
      ? {
          type: 'object',
          properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, fieldsOf(value)])),
          additionalProperties: false,
        }
      : {}),
    ...(items ? { items: fieldsOf(items) } : {}),
  };
}
