import { c, table, type RecordOf } from '../../base/database/columns.js';
import type { FileKind, ScanStatus } from '../contract/vocabulary.js';

/** What is announced and not confirmed yet. The bytes, when they have come, are in the store's upload area. */
export const uploads = table('file_uploads', {
  /** The id of the file to be. */
  id: c.text('id'),
  fileName: c.text('file_name'),
  contentType: c.text('content_type'),
  sizeBytes: c.int('size_bytes'),
  kind: c.word<FileKind>('kind'),
  subjectId: c.orNull(c.text('subject_id')),
  contractId: c.orNull(c.text('contract_id')),
  paymentId: c.orNull(c.text('payment_id')),
  uploadedBy: c.orNull(c.text('uploaded_by')),
  createdAt: c.instant('created_at'),
  /** Until then URL and token are good. */
  expiresAt: c.instant('expires_at'),
  /** Until then one confirmation has it to itself. */
  claimedUntil: c.instant('claimed_until'),
});
export type UploadRow = RecordOf<typeof uploads>;

/** Confirmed files. The bytes are in the store, under a key that no client can write. */
export const files = table(
  'files',
  {
    id: c.text('id').unaudited(),
    fileName: c.text('file_name'),
    contentType: c.text('content_type'),
    sizeBytes: c.int('size_bytes'),
    sha256: c.text('sha256'),
    kind: c.word<FileKind>('kind'),
    subjectId: c.orNull(c.text('subject_id')),
    contractId: c.orNull(c.text('contract_id')).unaudited(),
    paymentId: c.orNull(c.text('payment_id')),
    objectKey: c.text('object_key').unaudited(),
    /** Of the bytes that were hashed and scanned: others under the same key are not this file. */
    etag: c.text('etag').unaudited(),
    scanStatus: c.word<ScanStatus>('scan_status'),
    scannedAt: c.orNull(c.instant('scanned_at')),
    scanSignature: c.orNull(c.text('scan_signature')),
    scanError: c.orNull(c.text('scan_error')),
    /** The scanner's signatures at the last verdict. */
    scannedWith: c.orNull(c.text('scanned_with')).internal(),
    /** Scans since the last verdict that gave none. */
    scanTries: c.int('scan_tries').unaudited(),
    /** When to scan it; `null` of what is not to be. */
    scanDueAt: c.orNull(c.instant('scan_due_at')).unaudited(),
    uploadedBy: c.orNull(c.text('uploaded_by')),
    createdAt: c.instant('created_at').unaudited(),
    updatedAt: c.instant('updated_at').unaudited(),
  },
  { audit: 'file', facts: ['downloaded'] },
);
export type FileRow = RecordOf<typeof files>;
