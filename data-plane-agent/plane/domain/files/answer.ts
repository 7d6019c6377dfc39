import type { FileRecord } from '../../contract/records/files.js';
import { iso } from '../../../base/instants.js';
import type { FileRow } from '../../tables/files.js';

export const fileAnswer = ({
  id,
  fileName,
  contentType,
  sizeBytes,
  sha256,
  kind,
  subjectId,
  contractId,
  paymentId,
  scanStatus,
  scannedAt,
  scanSignature,
  scanError,
  uploadedBy,
  createdAt,
  updatedAt,
}: FileRow): FileRecord => ({
  id,
  fileName,
  contentType,
  sizeBytes,
  sha256,
  kind,
  subjectId,
  contractId,
  paymentId,
  scanStatus,
  scannedAt: scannedAt === null ? null : iso(scannedAt),
  scanSignature,
  scanError,
  uploadedBy,
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});
