import { todayIn } from '../../data-plane-agent/base/day.js';
import { s } from '../../data-plane-agent/base/schema.js';
import {
  BATCH_DAYS,
  ContractImport,
  ImportReport,
  MAX_REPORT_ERRORS,
  MAX_ROW_ERRORS,
  type ImportInput,
  TEMPLATE_LANGUAGES,
} from '../../data-plane-agent/plane/contract/records/imports.js';
import { edit } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import { importIssues, importSource } from '../spreadsheets/import-source.js';
import { endpoint } from '../http/endpoint.js';
import { attachment, fileOf } from '../http/reply.js';
import type { Services } from '../services/services.js';
import { peopleOf } from './people.js';

/** Enough for five thousand contracts, and for waiting until another import is done. */
const IMPORT_MS = 120_000;

const RULES =
  'Send exactly one of `rows`, `xlsxBase64` and `csv`, with at most 5 000 rows. Each contract is created independently, with the rules and defaults of `POST /contracts`: valid contracts are imported, and each row of the others is reported with field, code, message and value ' +
  `(at most ${MAX_ROW_ERRORS} errors per row; beyond ${MAX_REPORT_ERRORS} errors in total, the first of each row). Existing contracts are never changed: a number that is taken, by a contract or by an earlier row, is an error of the row.\n\n` +
  '`rows`: an unknown field, or a row that is not an object, is 400 for the whole request; any other error is reported for its row. `csv`: with or without a byte order mark; separated by commas, semicolons or tabs. ' +
  '`xlsxBase64`: an .xlsx file without password or macros, with one sheet; formulas count with their last calculated value, and a formula error fails the row.\n\n' +
  'Numbers that are texts are written like 1,234.56 or 1.234,56, also with spaces or apostrophes between thousands, without a currency; a tax rate or a custom percentage may end in `%`. All number columns of the file together decide which: `45.000` is 45 beside `12.5`, and 45000 beside `1.234,5`. If no number shows it, cells separated by commas mean decimal points, as programs write them, unless a number like `45.000` may be thousands; otherwise each number with two readings is an error of its row, which names both. In a file where some numbers have decimal commas and some decimal points, those of the smaller part are refused, and so is every number with two readings. ' +
  'Dates are written like 2026-03-31, 2026/3/31, 2026.03.31, 2026年3月31日, 31.12.2026, 31/12/2026 or 12/31/2026. Whether the day or the month is first is decided by any day above 12 in all date columns together; without one, and in a file that has both, a date with two readings is refused. A year has four digits. A time after a date is accepted if it is midnight (`2026/3/5 00:00`). `reading` in the report says how the file was read.\n\n' +
  'Headers are field names, as in an export, their English or Chinese labels, or other usual words for them (`Contract No.`, `合同号`, `合同总价`); case, spaces and punctuation are ignored. Custom fields are `cf:<code>` or their name; lists are JSON. Unknown headers are listed in `unknownColumns`, and in `suggestions` with the field that they probably mean, by the header, or because all cells are types, currencies, statuses or stages: if such a cell differs from the default that its contract got, the row has the warning `COLUMN_NOT_READ`; columns of computed values are ignored. Required columns that the file lacks are listed in `missingColumns`, and not again in the errors of each row. ' +
  'Cells of `type`, `status`, `workflowStage`, currencies, `line.reconciliationStatus` and the `kind` of terms may also be in words (`销售`, `Sales`, `RMB`, `已对账`); yes and no of a custom field in English or Chinese. ' +
  'In a file, rows with the same contract number and one payment line each (`line.…`) form one contract; their contract fields must agree. A contract with an invalid row is not created at all. Instead of the id of a subject company, owner, superior or lifecycle template, a name, an email address or a code may be given; if an id is unknown, the name, address or code in the adjacent column is used. A column `Owner` is read only if neither `ownerId` nor `ownerEmail` is present. ' +
  'Account numbers that an export has masked are refused. One apostrophe before `=`, `+`, `-`, `@` and the like is removed, since an export adds it.\n\n' +
  'Received amounts need `payment_entry (edit)`, invoice fields `invoice (edit)`, stages after review the workflow control `admin`: without these, the rows concerned fail. ';

/** The members, subject companies and roles that rows may refer to. */
const surroundingsOf = async (
  principal: Principal,
  services: Services,
): Promise<Pick<ImportInput, 'people' | 'roleCodes'>> => ({
  people: await peopleOf(principal, services),
  roleCodes: (await services.tenants.roles.list(principal.tenant.id)).map(({ code }) => code),
});

/** If one of the sources was refused, it is not known which source the client meant. */
const importBodyIssues = (
  sound: Parameters<typeof importIssues>[0],
  { isRefused }: { isRefused(path: string): boolean },
) => (['rows', 'xlsxBase64', 'csv'].some(isRefused) ? [] : importIssues(sound));

const importContracts = endpoint('POST /contracts/import', {
  summary: 'Import contracts from a list, a CSV file or a workbook',
  description: `${RULES}The report is kept for ${BATCH_DAYS} days. An import of up to 500 rows, 1 000 payment lines and 500 000 characters is one transaction: if it is interrupted, nothing is imported. A longer one is entered a few contracts at a time, which others see at once and between which they write: if it is interrupted before the first, nothing is imported, and after that it is finished within about a minute, also without the client. Repeat the request with its \`Idempotency-Key\` to get the report then; it is 409 \`IDEMPOTENCY_IN_PROGRESS\` until somebody can finish it. A row that cannot be imported even so has the error \`IMPORT_INTERRUPTED\`. Imports run one at a time, alternating between tenants. At most ten imports of a tenant can wait; the next one returns 429 with \`Retry-After\`. The same limit applies to workbooks waiting to be read, and to CSV texts of more than 65 536 characters.`,
  needs: edit('contract_edit'),
  body: ContractImport,
  furtherIssues: importBodyIssues,
  idempotencyKey: 'always',
  timeoutMs: IMPORT_MS,
  returns: ImportReport,
  calls: ['importContracts'],
  fails: [],
  run: async ({ body, plane, principal, services }) => {
    const source = await importSource(body, principal.tenant.id);
    return plane.importContracts({ ...source, ...(await surroundingsOf(principal, services)) });
  },
});

const previewImport = endpoint('POST /contracts/import/preview', {
  summary: 'Preview an import',
  description: `Returns the report that \`POST /contracts/import\` would return for the same body, without ids. The import runs and is rolled back, so nothing is saved. \`Idempotency-Key\` is ignored.\n\n${RULES.trim()}`,
  needs: edit('contract_edit'),
  body: ContractImport,
  furtherIssues: importBodyIssues,
  idempotencyKey: 'none',
  timeoutMs: IMPORT_MS,
  returns: ImportReport,
  calls: ['previewImport'],
  fails: ['DATA_PLANE_OUTCOME_UNKNOWN'],
  run: async ({ body, plane, principal, services }) => {
    const source = await importSource(body, principal.tenant.id);
    return plane.previewImport({ ...source, ...(await surroundingsOf(principal, services)) });
  },
});

const VISIBLE = `Available for ${BATCH_DAYS} days to the member who made the import and to administrators who see all contracts.`;

const getImportReport = endpoint('GET /contracts/import/batches/:id', {
  summary: 'Read the report of an import',
  description: VISIBLE,
  needs: edit('contract_edit'),
  returns: ImportReport,
  calls: ['getImport'],
  fails: [],
  run: ({ params, plane }) => plane.getImport({ batchId: params.id }),
});

const downloadImportErrors = endpoint('GET /contracts/import/batches/:id/errors.csv', {
  summary: 'Download the failed rows of an import with their errors',
  description: `${VISIBLE} Contains the rows as they were sent, with a last column \`error\`; once corrected, the file can be imported again. A column \`read as\` states how the numbers and dates of the original file were read, or that it did not decide this: then a number or a date with two readings is refused again until it is corrected. All rows of a contract that was not imported are included, up to four million characters in total. Account numbers are masked for callers other than the importer, unless they have permission to see them.`,
  needs: edit('contract_edit'),
  produces: 'text/csv',
  returns: fileOf('text/csv', 'The failed rows, with a header row.'),
  calls: ['getImportErrors'],
  fails: [],
  run: async ({ params, plane }) =>
    attachment((await plane.getImportErrors({ batchId: params.id })).csv, { fileName: 'import-errors.csv' }),
});

const downloadImportTemplate = endpoint('GET /contracts/import/template.csv', {
  summary: 'Download an empty import file to fill in',
  description:
    'A header row with all columns of an import, including the custom fields that the caller may write, and an example row. Headers are field names or, with `language`, labels in that language (`zh` and `zh-CN` are the same; by default the headers are field names, and the example is in the default language of the tenant); those of required columns end in ` *`. The columns `line.…` may stay empty; a row with one of them needs period, due date and amount. An import skips the example row as long as it has the contract number that says so.',
  needs: edit('contract_edit'),
  query: s.object({ language: s.optional(s.enum(TEMPLATE_LANGUAGES)) }),
  produces: 'text/csv',
  returns: fileOf('text/csv', 'The header row and an example row.'),
  calls: ['getImportTemplate'],
  fails: [],
  run: async ({ query, plane, principal, request }) => {
    const { csv } = await plane.getImportTemplate(query);
    return attachment(csv, {
      fileName: `import-template-${todayIn(principal.settings.timezone, request.receivedAt)}.csv`,
    });
  },
});

export const contractImportEndpoints = {
  importContracts,
  previewImport,
  getImportReport,
  downloadImportErrors,
  downloadImportTemplate,
};
