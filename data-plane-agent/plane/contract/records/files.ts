import { s, type Static } from '../../../base/schema.js';
import { FILE_KINDS, SCAN_STATUSES } from '../vocabulary.js';
import { stamps } from './common.js';

/**
 * No path, no control characters, nothing that turns letters around so that a name reads as another: it is for people,
 * and never part of a key.
 */
const FILE_NAME = String.raw`^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+$`;
const fileName = () =>
  s.text({
    max: 255,
    pattern: FILE_NAME,
    about: 'Up to 255 characters, without slashes, control characters and controls of the writing direction.',
  });
const contentType = () =>
  s.text({ max: 255, about: 'One of the media types that the installation takes; parameters are passed over.' });
const sizeBytes = () => s.integer({ max: Number.MAX_SAFE_INTEGER, about: 'In bytes.' });
const kind = () => s.enum(FILE_KINDS);

/** What a file belongs to. */
const links = {
  subjectId: s.optional(s.id('The subject company; that of the contract when left out.')),
  contractId: s.optional(s.id()),
  paymentId: s.optional(s.id('A payment line; of that contract, when both are given.')),
};

export const PresignInput = s.object(
  { fileName: fileName(), contentType: contentType(), sizeBytes: sizeBytes(), kind: kind(), ...links },
  { title: 'FilePresignInput' },
);
export type PresignInput = Static<typeof PresignInput>;

export const PresignedUpload = s.object(
  {
    fileId: s.id('The id that the file has once it is confirmed.'),
    uploadUrl: s.text({ max: 8_000 }),
    method: s.enum(['PUT'] as const),
    headers: s.map(
      s.text({ min: 0, max: 1_000 }),
      20,
      'Sent with the PUT as they stand here. `Content-Length` must be `sizeBytes`.',
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

export const FileRecord = s.object(
  {
    id: s.id('What the API calls a file reference.'),
    fileName: s.text({ max: 255 }),
    contentType: s.text({ max: 255 }),
    sizeBytes: sizeBytes(),
    sha256: s.text({ max: 64, about: 'Of the bytes, in lower-case hex.' }),
    kind: kind(),
    subjectId: s.nullable(s.id()),
    contractId: s.nullable(s.id()),
    paymentId: s.nullable(s.id()),
    scanStatus: s.enum(
      SCAN_STATUSES,
      '`pending` until the scanner has spoken; `error` when it could not, which is tried again; `skipped` where nothing is scanned.',
    ),
    scannedAt: s.nullable(s.instant()),
    scanSignature: s.nullable(s.text({ min: 0, max: 500, about: 'Of an infected file: what was found in it.' })),
    scanError: s.nullable(s.text({ min: 0, max: 500, about: 'Why the last scan gave no verdict.' })),
    uploadedBy: s.nullable(s.id()),
    ...stamps,
  },
  { title: 'File' },
);
export type FileRecord = Static<typeof FileRecord>;

export const DownloadQuery = s.object({
  contractId: s.optional(s.id('Where the file hangs; elsewhere it is not found.')),
  paymentId: s.optional(s.id('Where the file hangs; elsewhere it is not found.')),
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
