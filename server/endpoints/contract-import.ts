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

/** For five thousand contracts, and for the turn of another import before. */
const IMPORT_MS = 120_000;

const RULES =
  'Exactly one of `rows`, `xlsxBase64` and `csv`, of at most 5 000 rows. Each contract is entered by itself, by the rules and with the defaults of `POST /contracts`: the good ones are in, and each row of the others is reported with field, code, message and value ' +
  `(at most ${MAX_ROW_ERRORS} of a row; beyond ${MAX_REPORT_ERRORS} of all rows, the first of each). Nothing that is there is ever changed: a number that is taken, here or by an earlier row, is an error of the row.\n\n` +
  "`rows`: an unknown field, or a row that is no object, is 400 for all of it; any other fault is its row's. `csv`: with or without a byte order mark; commas, semicolons or tabs; numbers like 1234.56 or 1,234.56, without a currency (in a file with semicolons also 1234,56, while 1,234 is refused as ambiguous); days as 2026-03-31, 2026/3/31 or 2026年3月31日. " +
  '`xlsxBase64`: .xlsx without password or macros, one sheet; of formulas the value that was calculated last, their errors fail the row.\n\n' +
  'Headers are the names of fields, as an export has them, or their English or Chinese labels, whatever their case and spaces; custom fields are `cf:<code>` or go by their name; lists are JSON. Headers that name nothing are `unknownColumns`; figures that are computed are left alone. ' +
  'In a file, rows with one contract number and a payment line each (`line.…`) are one contract; what they say of it must agree. A contract with a bad row is not entered at all. Ids of subject company, owner, superior and lifecycle template may be a name, an e-mail address or a code instead, and one that is unknown here gives way to the name, address or code in the column beside it. A column `Owner` is read where neither `ownerId` nor `ownerEmail` is there. ' +
  'Account numbers that an export has masked are refused. One apostrophe in front of `=`, `+`, `-`, `@` and the like is taken off, as an export puts it there.\n\n' +
  'Money received needs `payment_entry (edit)`, invoice fields `invoice (edit)`, stages after review the workflow control `admin`: without it these rows fail. ';

/** Whom and what the rows may name. */
const surroundingsOf = async (
  principal: Principal,
  services: Services,
): Promise<Pick<ImportInput, 'people' | 'roleCodes'>> => ({
  people: await peopleOf(principal, services),
  roleCodes: (await services.tenants.roles.list(principal.tenant.id)).map(({ code }) => code),
});

/** Of a source that was refused it is not known whether it is the one. */
const judgeImport = (sound: Parameters<typeof importIssues>[0], { isRefused }: { isRefused(path: string): boolean }) =>
  ['rows', 'xlsxBase64', 'csv'].some(isRefused) ? [] : importIssues(sound);

const importContracts = endpoint('POST /contracts/import', {
  summary: 'Import contracts from a list, a CSV or a workbook',
  description: `${RULES}The report is kept for ${BATCH_DAYS} days. All of it is one transaction: an import that is broken off has entered nothing. Imports are made one at a time, those of different tenants by turns; of more than ten of one tenant that wait the next is 429 with \`Retry-After\`, and likewise of workbooks that wait to be read.`,
  needs: edit('contract_edit'),
  body: ContractImport,
  judge: judgeImport,
  needsBody: true,
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
  summary: 'Say what an import would do',
  description: `The report of \`POST /contracts/import\` for the same body, without ids, and nothing is kept. It does what the import would do and undoes it. \`Idempotency-Key\` is not read.\n\n${RULES.trim()}`,
  needs: edit('contract_edit'),
  body: ContractImport,
  judge: judgeImport,
  needsBody: true,
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

const VISIBLE = `For ${BATCH_DAYS} days, to whoever made the import and to administrators who see all contracts.`;

const getImport = endpoint('GET /contracts/import/batches/:id', {
  summary: 'Read the report of an import again',
  description: VISIBLE,
  needs: edit('contract_edit'),
  returns: ImportReport,
  calls: ['getImport'],
  fails: [],
  run: ({ params, plane }) => plane.getImport({ batchId: params.id }),
});

const getImportErrors = endpoint('GET /contracts/import/batches/:id/errors.csv', {
  summary: 'Download the rows of an import that failed, with their reasons',
  description: `${VISIBLE} The rows as they came, with a last column \`error\`: put right, the file can be imported as it is. All rows of a contract that was not entered are there, as far as they are four million characters together. Account numbers are masked for others than whoever sent them, unless they may see them.`,
  needs: edit('contract_edit'),
  produces: 'text/csv',
  returns: fileOf('text/csv', 'The failed rows under their header.'),
  calls: ['getImportErrors'],
  fails: [],
  run: async ({ params, plane }) =>
    attachment((await plane.getImportErrors({ batchId: params.id })).csv, { fileName: 'import-errors.csv' }),
});

const getImportTemplate = endpoint('GET /contracts/import/template.csv', {
  summary: 'Download an empty file to fill in for an import',
  description:
    'A header with all that an import takes, custom fields that the caller may write among them, and no rows. Headers are field names, or labels in the `language`.',
  needs: edit('contract_edit'),
  query: s.object({ language: s.optional(s.enum(TEMPLATE_LANGUAGES)) }),
  produces: 'text/csv',
  returns: fileOf('text/csv', 'The header.'),
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
  getImport,
  getImportErrors,
  getImportTemplate,
};
