import Type from 'typebox';
import { FAILURES, type FailureCode } from '../../../base/failures.js';
import { s, type Static, type TSchema } from '../../../base/schema.js';
import { Warning } from './common.js';
import { ContractInput } from './contracts.js';
import { People } from './people.js';
import { ENCODINGS, mark, MAX_IMPORT_ROWS, Sheet } from './sheet.js';

/** The maximum number of errors reported per row; few rows have more. */
export const MAX_ROW_ERRORS = 50;
/** The maximum number of errors in a report; beyond it, only the first error of each row is reported. */
export const MAX_REPORT_ERRORS = 20_000;
/** How long the report of a batch is available, in days. */
export const BATCH_DAYS = 30;

/** The languages of the column labels in the import template; `zh` and `zh-CN` are the same. */
export const TEMPLATE_LANGUAGES = ['en', 'zh', 'zh-CN'] as const;

/**
 * A contract in a row. Unknown fields are refused at every level; values are validated row by row, so that an invalid
 * value fails only its row.
 */
const ContractRow = Type.Unsafe<Record<string, unknown>>({
  ...fieldsOf(ContractInput),
  title: 'ContractRow',
  description:
    'The fields of `ContractInput`. A missing or invalid value fails the row; an unknown field, or a row that is not an object, fails the whole request. `subjectId` may be a name, `ownerId` and `ownerSuperiorId` an email address, `lifecycleTemplateId` a code.',
});

/** Slightly below the limit of a request body. */
const BYTES = 16_000_000;

/** What a client sends (API document 4.3). */
export const ContractImport = s.object(
  {
    rows: s.optional(s.list(ContractRow, MAX_IMPORT_ROWS)),
    xlsxBase64: s.optional(s.verbatim({ max: BYTES, about: 'An .xlsx workbook in base64.' })),
    sheetName: s.optional(s.text({ max: 100, about: 'A sheet of the workbook; default: the first.' })),
    csv: s.optional(
      s.verbatim({ max: BYTES, about: 'The text of a CSV file, with commas, semicolons or tabs as separators.' }),
    ),
  },
  { title: 'ContractImport', oneOf: ['rows', 'xlsxBase64', 'csv'] },
);
export type ContractImport = Static<typeof ContractImport>;

/** The input of the data plane: either `rows`, or the sheet read from a file. */
export const ImportInput = s.object({
  rows: s.nullable(s.list(ContractRow, MAX_IMPORT_ROWS)),
  sheet: s.nullable(Sheet),
  people: People,
  /** The tenant's roles; if omitted, `workflowAllowedRoles` is not checked. */
  roleCodes: s.omittable(s.list(s.text({ max: 64 }), 1_000)),
});
export type ImportInput = Static<typeof ImportInput>;

export const ImportError = s.object(
  {
    field: s.nullable(
      s.text({ max: 400, about: 'The column, or the path in `rows`; `null` if the error concerns the whole row.' }),
    ),
    code: s.enum(Object.keys(FAILURES) as FailureCode[]),
    message: s.text({ max: 1_000 }),
    value: s.nullable(
      s.verbatim({
        min: 0,
        max: 200,
        about:
          'The value as sent, its first 100 characters; account numbers are masked unless the caller may see them.',
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
      about: 'The number of the record in the file, where the header is 1; in `rows` the position, from 1.',
    }),
    status: s.enum(['created', 'failed', 'skipped'], '`skipped`: a blank row, or the example row of the template.'),
    contractId: s.omittable(s.id()),
    contractNo: s.omittable(s.verbatim({ max: 1_000 })),
    errors: s.omittable(s.list(ImportError, MAX_ROW_ERRORS)),
    warnings: s.omittable(
      s.list(
        Warning,
        100,
        'Warnings of an imported row. In a preview they refer only to payment lines that already exist.',
      ),
    ),
  },
  { title: 'ImportedRow' },
);
export type ImportedRow = Static<typeof ImportedRow>;

/** How a file was read. */
export const ImportReading = s.object(
  {
    // Not an enumeration: generators of clients refuse one that contains a tab.
    delimiter: s.nullable(
      s.verbatim({
        max: 1,
        about: 'What separates the cells of a CSV file: a comma, a semicolon or a tab; `null` for a workbook.',
      }),
    ),
    encoding: s.nullable(
      s.enum(ENCODINGS, 'The encoding of a file that the command line read; `null` for a text in a request.'),
    ),
    decimalMark: s.nullable(
      s.enum(
        ['.', ','],
        'The decimal mark of the numbers that are texts; `null` when the file does not show it, or has both: then a number like `45.000` is refused.',
      ),
    ),
    groupMark: s.nullable(
      mark(
        [',', '.', ' ', "'"],
        'The mark between thousands; `null` when no number has one, or `decimalMark` is `null`.',
      ),
    ),
    dayOrder: s.nullable(
      s.enum(
        ['DMY', 'MDY'],
        'Whether dates like `05/03/2026` have their day or their month first; `null` when the file does not show it, or has both: then such a date is refused.',
      ),
    ),
  },
  { title: 'ImportReading' },
);
export type ImportReading = Static<typeof ImportReading>;

export const ImportReport = s.object(
  {
    batchId: s.nullable(s.id(`The id of the report, which is stored for ${BATCH_DAYS} days; \`null\` in a preview.`)),
    total: s.integer({ about: 'The number of rows: the sum of `created`, `failed` and `skipped`.' }),
    created: s.integer(),
    failed: s.integer(),
    skipped: s.integer(),
    contracts: s.integer({ about: 'The number of created contracts: several rows of a file may form one contract.' }),
    unknownColumns: s.list(s.text({ max: 200 }), 500, 'Headers that match no field; their cells were ignored.'),
    suggestions: s.list(
      s.object({ column: s.text({ max: 200 }), suggestion: s.text({ max: 200 }) }, { title: 'ColumnSuggestion' }),
      500,
      'Unknown headers that are probably meant for a field, by the header or by the values of the cells: the header, and the name to give it. A header that may mean one of several fields has an entry for each.',
    ),
    missingColumns: s.list(
      s.text({ max: 200 }),
      100,
      'Required columns that the file lacks. Its rows fail; their errors do not name these columns again.',
    ),
    reading: s.nullable(ImportReading),
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
