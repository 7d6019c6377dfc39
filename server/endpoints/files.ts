import {
  ConfirmInput,
  Download,
  DownloadQuery,
  FileRecord,
  PresignedUpload,
  PresignInput,
} from '../../data-plane-agent/plane/contract/records/files.js';
import { view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { reply } from '../http/reply.js';
import { checkReferences } from './named.js';

/** Each step of a confirmation has its own deadline; together they come to less than this. */
const CONFIRM_MS = 60_000;

const presignFile = endpoint('POST /files/presign', {
  summary: 'Announce an upload, and get the URL for it',
  description:
    'The first of three steps. The second is one `PUT` of the bytes to `uploadUrl`, with the `headers` as they are in the answer: straight to the object store, never through the API, and never under `/api/v1`. The third is `POST /files/confirm`. ' +
    'URL and token are good for 15 minutes, for exactly these bytes: a body of another length or type is refused by the store. ' +
    "A `paymentId` files it under the line's contract, and a contract under its subject company; ids that do not belong together are 400. A file that is filed under nothing is seen by who uploaded it, and by those who see all contracts of its subject company. " +
    'No bytes at all (`sizeBytes` 0) are allowed. A `fileName` may not turn its own letters around (U+202E and its like): 400. Against the quota of the tenant count its files, and uploads that were announced and not confirmed, which are removed after a day. At most 200 uploads of a tenant are open at a time (429).',
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

const confirmFile = endpoint('POST /files/confirm', {
  summary: 'Make a file of what was uploaded',
  description:
    'Every field as it was announced; a link or `bucket` that is left out is taken from the token. The bytes are copied to where no URL can write them, their first bytes are held against the content type, and they are hashed and scanned. ' +
    'The answer waits five seconds for the scanner; after that the file is `pending`, and `GET /files/:id` tells how it went. What is refused for its size or content is removed, and may be uploaded again while the URL is good. ' +
    "A second confirmation with the same token answers the first one's file, also when the token has expired since, and by several at once there is one file. The `id` is what the API calls a file reference.",
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
    'A file is seen by whoever sees a contract that it hangs on: the one that it was filed under, and each that refers to it in itself, its lines, receipts, invoices, tasks or custom fields.',
  needs: view('contract_view'),
  returns: FileRecord,
  calls: ['getFile'],
  fails: [],
  run: ({ params, plane }) => plane.getFile({ fileId: params.id }),
});

const downloadFile = endpoint('GET /files/:id/download', {
  summary: 'Get a URL for one download',
  description:
    'The URL is good for 60 seconds and gives the bytes as an attachment. Whoever prefers something other than JSON (what `Accept` names first among the best: a browser that follows a link or shows a picture) is sent there at once, by 302; `*/*` and `application/*` are JSON. ' +
    'A clean file is given out always, an infected one never. One that waits for the scanner, or could not be scanned, is given out only where `FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN` is off, and one that was never scanned only while scanning is off. Each download goes on record. ' +
    'With `contractId` or `paymentId` the file must hang there.',
  needs: view('contract_view'),
  query: DownloadQuery,
  returns: Download,
  sendsOn: true,
  calls: ['downloadFile'],
  fails: [],
  run: async ({ params, query, plane, request }) => {
    const download = await plane.downloadFile({ fileId: params.id, ...query });
    return request.followsLink === true
      ? reply(download, { status: 302, headers: { Location: download.url } })
      : download;
  },
});

export const fileEndpoints = { presignFile, confirmFile, getFile, downloadFile };
