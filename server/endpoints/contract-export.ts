import { todayIn } from '../../data-plane-agent/base/day.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { ExportQuery } from '../../data-plane-agent/plane/contract/records/export.js';
import { edit } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import { contractSheet, namesOf } from '../spreadsheets/contract-sheet.js';
import { EXPORTS_AT_ONCE, oneOfFew } from '../spreadsheets/open-exports.js';
import type { Plane } from '../data-planes/plane.js';
import { endpoint } from '../http/endpoint.js';
import { attachment, fileOf } from '../http/reply.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { Services } from '../services/services.js';

const DESCRIPTION =
  'A file in UTF-8 with a byte order mark, CRLF and RFC 4180 quoting; its headers are field names. Takes the filters of `GET /contracts`; `page` and `pageSize` are accepted and mean nothing. ' +
  'Up to 10 000 contracts come in the order that `sort` and `order` ask for; more come in the order in which they were entered (newest first unless `sort=createdAt&order=asc`), so that each is there once, whatever happens meanwhile. ' +
  "`full` has one row for each payment line (`line.…`) with the contract's cells repeated, and one row with empty line cells for a contract without lines; custom fields that the caller may see are `cf:<code>`, lists are JSON. " +
  'A text that begins with `=`, `+`, `-`, `@`, a tab or one of their full-width twins has an apostrophe in front, which an import takes off again. Without `sensitive_data` account numbers stay masked. ' +
  'The file is sent as it is made: a transfer that breaks off (no final chunk) is not all of it. Each export is an event of the audit. ' +
  `Exports that run at the same time share the work, so each is the slower; of more than ${EXPORTS_AT_ONCE} of one tenant the next is 429 with \`Retry-After\`.`;

/** What the sheet asks for: reads and, also of a GET, the record that contracts left the house. */
const CALLS = ['planContractExport', 'exportContracts', 'recordExport'] as const;
/** Each chunk waits for those of other exports. */
const CHUNK_MS = 60_000;

const CsvFile = fileOf('text/csv', 'The contracts, in columns as the profile has them.');

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
    if (query.subjectId && !directory.hasSubject(query.subjectId)) throw fail('NOT_FOUND', {});
    return fileFor(query, work);
  },
});

const exportContractsByBody = endpoint('POST /contracts/export', {
  summary: 'Export contracts as CSV, with filters too long for an address',
  description: `${DESCRIPTION}\n\nThe same fields as those of \`GET /contracts/export\`, in a body. It changes nothing: \`Idempotency-Key\` is not read. An \`ownerId\` that is no member's and a \`subjectId\` outside the caller's scope are \`REFERENCE_INVALID\`; contracts among \`ids\` that are not there are left out.`,
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
  return attachment(oneOfFew(principal.tenant.id, contractSheet({ plane, profile: asked, filter, names })), {
    fileName: `contracts-${asked}-${day}.csv`,
  });
}

/**
 * In a body, somebody who is no member and a subject company outside the caller's scope are told of. A contract that is
 * not there just has no rows.
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

export const contractExportEndpoints = { exportContracts, exportContractsByBody };
