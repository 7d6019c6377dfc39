import { todayIn } from '../../data-plane-agent/base/day.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { ExportQuery } from '../../data-plane-agent/plane/contract/records/export.js';
import { edit } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import { contractSheet, namesOf } from '../spreadsheets/contract-sheet.js';
import { EXPORTS_AT_ONCE, limitedExport } from '../spreadsheets/open-exports.js';
import type { Plane } from '../data-planes/plane.js';
import { endpoint } from '../http/endpoint.js';
import { checkFilter } from './named.js';
import { attachment, fileOf } from '../http/reply.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Services } from '../services/services.js';

const DESCRIPTION =
  'A file in UTF-8 with a byte order mark, CRLF line ends and RFC 4180 quoting; its headers are field names. Takes the filters of `GET /contracts`; `page` and `pageSize` are accepted and ignored. ' +
  'Up to 10 000 contracts are sorted by `sort` and `order`. A larger result is in the order in which the contracts were created (newest first unless `sort=createdAt&order=asc`), so that each contract appears exactly once even if contracts change during the export. ' +
  "`full` has one row for each payment line (`line.…`) with the contract's cells repeated, and one row with empty line cells for a contract without lines. Custom fields visible to the caller are `cf:<code>`; lists are JSON. " +
  'A text that begins with `=`, `+`, `-`, `@`, a tab or one of their full-width equivalents is prefixed with an apostrophe, which an import removes. Without `sensitive_data`, account numbers are masked. ' +
  'The file is streamed: a transfer that ends without the final chunk is incomplete. Each export is recorded in the audit. ' +
  `A tenant can run up to ${EXPORTS_AT_ONCE} exports at the same time, which slow each other down; further exports return 429 with \`Retry-After\`.`;

/** The operations that the export calls: reads and, also for a GET, the audit record of the export. */
const CALLS = ['planContractExport', 'exportContracts', 'recordExport'] as const;
/** Each chunk may wait for the chunks of other exports. */
const CHUNK_MS = 60_000;

const CsvFile = fileOf('text/csv', 'The contracts, with the columns of the profile.');

const exportContracts = endpoint('GET /contracts/export', {
  summary: 'Export contracts as CSV',
  description: DESCRIPTION,
  needs: edit('export'),
  query: ExportQuery,
  produces: 'text/csv',
  idempotencyKey: 'own',
  returns: CsvFile,
  calls: CALLS,
  timeoutMs: CHUNK_MS,
  fails: [],
  run: async ({ query, ...work }) => {
    const directory = await work.services.directory.of(work.principal.tenant.id);
    checkFilter(query, directory);
    return fileFor(query, work);
  },
});

const exportContractsByPost = endpoint('POST /contracts/export', {
  summary: 'Export contracts as CSV, with filters too long for a URL',
  description: `${DESCRIPTION}\n\nTakes the parameters of \`GET /contracts/export\` in the body. It changes no data, so \`Idempotency-Key\` is ignored. An \`ownerId\` that names no member and a \`subjectId\` outside the caller's scope are refused with \`REFERENCE_INVALID\`; \`ids\` of contracts that do not exist are ignored.`,
  needs: edit('export'),
  body: ExportQuery,
  produces: 'text/csv',
  idempotencyKey: 'own',
  returns: CsvFile,
  calls: CALLS,
  timeoutMs: CHUNK_MS,
  fails: ['REFERENCE_INVALID'],
  run: async ({ body, ...work }) => {
    await checkPeople(body, work);
    return fileFor(body, work);
  },
});

interface Caller {
  readonly plane: Pick<Plane, (typeof CALLS)[number]>;
  readonly principal: Principal;
  readonly request: RequestInfo;
  readonly services: Services;
}

async function fileFor(
  { profile, page: _page, pageSize: _pageSize, ...filter }: ExportQuery,
  { plane, principal, request, services }: Caller,
) {
  const asked = profile ?? 'summary';
  const names = namesOf(await services.directory.of(principal.tenant.id));
  const day = todayIn(principal.settings.timezone, request.receivedAt);
  return attachment(limitedExport(principal.tenant.id, contractSheet({ plane, profile: asked, filter, names })), {
    fileName: `contracts-${asked}-${day}.csv`,
  });
}

/**
 * Refuses an unknown member and a subject company outside the caller's scope in the body. A contract that does not
 * exist simply has no rows.
 */
async function checkPeople(
  { ownerId, subjectId }: ExportQuery,
  { principal, services }: Pick<Caller, 'principal' | 'services'>,
): Promise<void> {
  const directory = await services.directory.of(principal.tenant.id);
  if (ownerId && directory.memberName(ownerId) === null)
    throw fail('REFERENCE_INVALID', { field: 'ownerId', value: ownerId });
  const isVisible =
    subjectId && directory.hasSubject(subjectId) && (principal.user.subjectScope?.includes(subjectId) ?? true);
  if (subjectId && !isVisible) throw fail('REFERENCE_INVALID', { field: 'subjectId', value: subjectId });
}

export const contractExportEndpoints = { exportContracts, exportContractsByPost };
