import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { FileKind, ScanStatus } from '../contract/vocabulary.js';

/** Uploads that have been presigned but not confirmed. Uploaded bytes are in the store's upload area. */
export const uploads = table('file_uploads', {
  /** The id that the file will have. */
  id: c.id('id'),
  fileName: c.text('file_name'),
  contentType: c.text('content_type'),
  sizeBytes: c.int('size_bytes'),
  kind: c.word<FileKind>('kind'),
  subjectId: c.orNull(c.id('subject_id')),
  contractId: c.orNull(c.id('contract_id')),
  paymentId: c.orNull(c.id('payment_id')),
  uploadedBy: c.orNull(c.id('uploaded_by')),
  createdAt: c.instant('created_at'),
  /** Until then URL and token are valid. */
  expiresAt: c.instant('expires_at'),
  /** Until then a confirmation holds the upload exclusively. */
  claimedUntil: c.instant('claimed_until'),
});
export type UploadRow = RecordOf<typeof uploads>;

/** Confirmed files. The bytes are in the store, under a key that clients cannot write to. */
export const files = table(
  'files',
  {
    id: c.id('id').unaudited(),
    fileName: c.text('file_name'),
    contentType: c.text('content_type'),
    sizeBytes: c.int('size_bytes'),
    sha256: c.text('sha256'),
    kind: c.word<FileKind>('kind'),
    subjectId: c.orNull(c.id('subject_id')),
    contractId: c.orNull(c.id('contract_id')).unaudited(),
    paymentId: c.orNull(c.id('payment_id')),
    objectKey: c.text('object_key').unaudited(),
    /** The entity tag of the bytes that were hashed and scanned: other bytes under the same key are not this file. */
    etag: c.text('etag').unaudited(),
    scanStatus: c.word<ScanStatus>('scan_status'),
    scannedAt: c.orNull(c.instant('scanned_at')),
    scanSignature: c.orNull(c.text('scan_signature')),
    scanError: c.orNull(c.text('scan_error')),
    /** The scanner's signatures at the last verdict. */
    scannedWith: c.orNull(c.text('scanned_with')).internal(),
    /** The number of failed scans since the last verdict. */
    scanTries: c.int('scan_tries').unaudited(),
    /** When to scan the file; `null` if it is not to be scanned. */
    scanDueAt: c.orNull(c.instant('scan_due_at')).unaudited(),
    uploadedBy: c.orNull(c.id('uploaded_by')),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'file', facts: ['downloaded'] },
);
export type FileRow = RecordOf<typeof files>;
