import { s, type Static } from '../../../base/schema.js';
import { FILE_KINDS, SCAN_STATUSES } from '../vocabulary.js';
import { stamps } from './common.js';

/** No path separators, no control or bidirectional characters. The name is only displayed, never part of a key. */
const FILE_NAME = String.raw`^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+$`;
const fileName = () =>
  s.text({
    max: 255,
    pattern: FILE_NAME,
    about: 'Up to 255 characters, without slashes, control characters and bidirectional controls.',
  });
const contentType = () =>
  s.text({ max: 255, about: 'One of the media types that the installation accepts; parameters are ignored.' });
const sizeBytes = () => s.integer({ max: Number.MAX_SAFE_INTEGER, about: 'In bytes.' });
const kind = () => s.enum(FILE_KINDS);

/** The records that a file belongs to. */
const links = {
  subjectId: s.optional(s.id('The subject company; default: that of the contract.')),
  contractId: s.optional(s.id()),
  paymentId: s.optional(s.id('A payment line; it must belong to the contract if both are given.')),
};

export const PresignInput = s.object(
  { fileName: fileName(), contentType: contentType(), sizeBytes: sizeBytes(), kind: kind(), ...links },
  { title: 'FilePresignInput' },
);
export type PresignInput = Static<typeof PresignInput>;

export const PresignedUpload = s.object(
  {
    fileId: s.id('The id of the file after confirmation.'),
    uploadUrl: s.text({ max: 8_000 }),
    method: s.enum(['PUT'] as const),
    headers: s.map(
      s.text({ min: 0, max: 1_000 }),
      20,
      'Headers to send unchanged with the PUT. `Content-Length` must be `sizeBytes`.',
    ),
    bucket: s.text({ max: 255 }),
    objectKey: s.text({ max: 1_000 }),
    uploadToken: s.verbatim({ max: 8_000 }),
    expiresAt: s.instant(),
  },
  { title: 'PresignedUpload' },
);
export type PresignedUpload = Static<typeof PresignedUpload>;

export const ConfirmInput = s.object(
  {
    bucket: s.optional(s.text({ max: 255 })),
    objectKey: s.verbatim({ max: 1_000 }),
    fileName: fileName(),
    contentType: contentType(),
    sizeBytes: sizeBytes(),
    kind: kind(),
    ...links,
    uploadToken: s.verbatim({ max: 8_000, about: 'From presign.' }),
  },
  { title: 'FileConfirmInput' },
);
export type ConfirmInput = Static<typeof ConfirmInput>;

const fileProperties = {
  id: s.id('The file reference used in other requests.'),
  fileName: s.text({ max: 255 }),
  contentType: s.text({ max: 255 }),
  sizeBytes: sizeBytes(),
  sha256: s.text({ max: 64, about: 'SHA-256 of the content, in lower-case hex.' }),
  kind: kind(),
  subjectId: s.nullable(s.id()),
  contractId: s.nullable(s.id()),
  paymentId: s.nullable(s.id()),
  scanStatus: s.enum(
    SCAN_STATUSES,
    '`pending` until the file is scanned; `error` when the scan failed, which is retried; `skipped` where scanning is disabled.',
  ),
  scannedAt: s.nullable(s.instant()),
  scanSignature: s.nullable(s.text({ min: 0, max: 500, about: 'The malware found in an infected file.' })),
  scanError: s.nullable(s.text({ min: 0, max: 500, about: 'Why the last scan failed.' })),
  uploadedBy: s.nullable(s.id()),
  ...stamps,
};

export const FileRecord = s.object(fileProperties, { title: 'File' });
export type FileRecord = Static<typeof FileRecord>;

/** The maximum number of files that the list of a contract has. */
export const MAX_CONTRACT_FILES = 5_000;

/** A file of a contract, with the records that refer to it. */
export const ContractFile = s.object(
  {
    ...fileProperties,
    attachedTo: s.list(
      s.object(
        {
          record: s.enum(['contract', 'payment', 'invoice', 'task'] as const),
          id: s.id('The id of that record.'),
          field: s.text({
            max: 150,
            about:
              'The field that refers to the file: `contractAttachment`, `dynamicFields.<id>`, `proof`, `invoiceAttachment`, `attachment`, or `receipts` for the receipts of a payment line.',
          }),
        },
        { title: 'FileAttachment' },
      ),
      100,
      'The records of this contract that refer to the file, at most 100; empty for a file that was only uploaded for the contract.',
    ),
  },
  { title: 'ContractFile' },
);
export type ContractFile = Static<typeof ContractFile>;

export const DownloadQuery = s.object({
  contractId: s.optional(s.id('The contract that the file belongs to; otherwise the file is not found.')),
  paymentId: s.optional(s.id('The payment line that the file belongs to; otherwise the file is not found.')),
});
export type DownloadQuery = Static<typeof DownloadQuery>;

export const Download = s.object(
  {
    url: s.text({ max: 8_000 }),
    expiresAt: s.instant(),
    fileName: s.text({ max: 255 }),
    contentType: s.text({ max: 255 }),
    sizeBytes: sizeBytes(),
    scanStatus: s.enum(SCAN_STATUSES),
  },
  { title: 'FileDownload' },
);
export type Download = Static<typeof Download>;
