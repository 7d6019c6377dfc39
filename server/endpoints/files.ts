import {
  ConfirmInput,
  ContractFile,
  Download,
  DownloadQuery,
  FileRecord,
  MAX_CONTRACT_FILES,
  PresignedUpload,
  PresignInput,
} from '../../data-plane-agent/plane/contract/records/files.js';
import { followsLink } from '../../data-plane-agent/base/http/request.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { reply } from '../http/reply.js';
import { checkReferences } from './named.js';

/** The sum of the deadlines of the steps of a confirmation is below this. */
const CONFIRM_MS = 60_000;

const presignFileUpload = endpoint('POST /files/presign', {
  summary: 'Request an upload URL',
  description:
    'Step one of three. Step two is one `PUT` of the bytes to `uploadUrl` with the `headers` exactly as returned: directly to the object store, not through the API, and never under `/api/v1`. Step three is `POST /files/confirm`. ' +
    'URL and token are valid for 15 minutes, for exactly these bytes: the store refuses a body of another length or type. ' +
    "With `paymentId` the file belongs to the line's contract, and with a contract to its subject company; ids that do not belong together are 400. A file with none of these is visible to the member who uploaded it, and to members who see all contracts of its subject company. " +
    "An empty file (`sizeBytes` 0) is allowed. A `fileName` must not contain characters that change the text direction, such as U+202E (400). The tenant's quota counts its files and its unconfirmed uploads; the latter are deleted after a day. A tenant can have at most 200 unconfirmed uploads (429).",
  needs: view('contract_view'),
  body: PresignInput,
  status: 201,
  returns: PresignedUpload,
  calls: ['presignFile'],
  fails: [],
  run: async ({ body, plane, principal, services }) => {
    await checkReferences({ subjectId: body.subjectId }, { principal, services });
    return plane.presignFile(body);
  },
});

const confirmFileUpload = endpoint('POST /files/confirm', {
  summary: 'Confirm an upload',
  description:
    'Every field must have the value sent to `POST /files/presign`; a link or `bucket` that is omitted is taken from the token. The bytes are copied to a location that no upload URL can write to, their first bytes are compared with the content type, and they are hashed and scanned. ' +
    'The answer waits up to five seconds for the scanner; after that the file is `pending`, and `GET /files/:id` reports the result. An upload that is refused for its size or content is deleted, and can be repeated while the URL is valid. ' +
    'A repeated confirmation with the same token returns the same file, also after the token has expired; concurrent confirmations create one file. The `id` is the file reference used elsewhere in the API.',
  needs: view('contract_view'),
  body: ConfirmInput,
  status: 201,
  returns: FileRecord,
  timeoutMs: CONFIRM_MS,
  calls: ['confirmFile'],
  fails: [],
  run: ({ body, plane }) => plane.confirmFile(body),
});

const getFile = endpoint('GET /files/:id', {
  summary: 'Read the record of a file',
  description:
    'A file is visible to members who see a contract that it belongs to: the contract that it was uploaded for, or any contract that refers to it directly or in its lines, receipts, invoices, tasks or custom fields.',
  needs: view('contract_view'),
  returns: FileRecord,
  calls: ['getFile'],
  fails: [],
  run: ({ params, plane }) => plane.getFile({ fileId: params.id }),
});

const listContractFiles = endpoint('GET /contracts/:id/files', {
  summary: 'List the files of a contract',
  description: `Every file that was uploaded for the contract, or that the contract, its payment lines, their receipts, its invoice records, its fulfillment tasks or its custom fields visible to the caller refer to, newest first. \`attachedTo\` names these records. A file in several places is listed once.`,
  needs: view('contract_view'),
  returns: s.list(
    ContractFile,
    MAX_CONTRACT_FILES,
    `A plain array: the newest ${MAX_CONTRACT_FILES} files of a contract that has more.`,
  ),
  calls: ['listContractFiles'],
  fails: [],
  run: ({ params, plane }) => plane.listContractFiles({ contractId: params.id }),
});

const getFileDownloadUrl = endpoint('GET /files/:id/download', {
  summary: 'Get a download URL',
  description:
    'The URL is valid for 60 seconds and returns the bytes as an attachment. A client that prefers another type to JSON (by the first of the most preferred types in `Accept`: a browser that follows a link or shows an image) is redirected there by 302; `*/*` and `application/*` count as JSON. ' +
    'A clean file can always be downloaded, an infected one never. A file whose scan is pending or failed can be downloaded only if `FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN` is off, and a file that was never scanned only while scanning is off. Each download is recorded. ' +
    'With `contractId` or `paymentId` the file must belong to that record.',
  needs: view('contract_view'),
  query: DownloadQuery,
  returns: Download,
  sendsOn: true,
  calls: ['downloadFile'],
  fails: [],
  run: async ({ params, query, plane, request }) => {
    const download = await plane.downloadFile({ fileId: params.id, ...query });
    return followsLink(request) ? reply(download, { status: 302, headers: { Location: download.url } }) : download;
  },
});

export const fileEndpoints = {
  presignFileUpload,
  confirmFileUpload,
  getFile,
  listContractFiles,
  getFileDownloadUrl,
};
