import { fail } from '../../../base/failures.js';
import { iso } from '../../../base/instants.js';
import type { Call } from '../../contract/call.js';
import type { FileRecord } from '../../contract/records/files.js';
import { fileAnswer } from '../../domain/files/answer.js';
import type { FileRow } from '../../tables/files.js';
import { NOT_SCANNED, scanned, waitingSince } from '../../domain/files/scans.js';
import { fileKey, fileKeyAgain, uploadKey, type StoredObject } from '../../files/objects/object-store.js';
import type { MultiStepContext } from '../operation-context.js';
import type { Claim } from './claim-upload.js';
import { firstLook } from './first-look.js';
import { quarantined, recordScan, SCAN_LEASE_MS, enqueueInfected } from './record-scan.js';

/**
 * Copies an upload to its final key and checks it there, because the upload URL can still be written to. A retry after
 * an interruption at any point has the same result.
 */
export async function ingestUpload(work: MultiStepContext, call: Call, claim: Claim): Promise<FileRecord> {
  const { upload } = claim;
  const {
    files: { objects },
    clock,
  } = work;
  const from = uploadKey(call.tenantId, upload.id);
  const object = await copied(work, call, { claim, from });
  const bytes = { objectKey: object.key, etag: object.etag, sizeBytes: object.sizeBytes };
  const { contentType } = upload;
  const look = await firstLook(work, bytes, contentType);
  if ('reason' in look) {
    await objects.remove(object.key);
    await objects.remove(from);
    throw fail('FILE_CONTENT_MISMATCH', { contentType, reason: look.reason });
  }
  const { sha256, scan: first } = look;

  const now = clock.now();
  const { id, fileName, kind, subjectId, contractId, paymentId, uploadedBy } = upload;
  const scan =
    first === 'skipped'
      ? NOT_SCANNED
      : first.isOver
        ? scanned(NOT_SCANNED, first.finding, { now, signatures: first.signatures })
        : waitingSince(now + SCAN_LEASE_MS);
  const isInfected = scan.scanStatus === 'infected';
  const row: FileRow = {
    id,
    fileName,
    contentType,
    sha256,
    kind,
    subjectId,
    contractId,
    paymentId,
    uploadedBy,
    ...bytes,
    ...scan,
    ...(isInfected ? await quarantined(work, call, { id, ...bytes }) : {}),
    createdAt: now,
    updatedAt: now,
  };
  const until = await claim.settled();
  let isMine = false;
  const answer = await work.conclude(async (context) => {
    const before = await context.store.files.byId(id);
    if (before) return fileAnswer(before);
    // An expired claim no longer guarantees what is stored under the key.
    if (!(await context.store.uploads.finish(id, until))) throw fail('FILE_BEING_CONFIRMED', { retryAfterSeconds: 5 });
    await context.store.files.insert(row);
    if (isInfected) enqueueInfected(context, row);
    isMine = true;
    return fileAnswer(row);
  });

  work.afterwards(async () => {
    if (!isMine) return removeOther(work, id, object.key);
    // Independent of each other; the sweep removes what is left after a failure.
    await Promise.all([
      objects.remove(from),
      isInfected && objects.remove(object.key),
      first !== 'skipped' &&
        !first.isOver &&
        first.rest.then(({ finding, signatures }) => recordScan(work, call, { row, finding, signatures })),
    ]);
  });
  return answer;
}

/** Removes the copy of a confirmation that came too late: another has already made the file. */
async function removeOther({ files: { objects }, read }: MultiStepContext, id: string, key: string): Promise<void> {
  const file = await read(({ store }) => store.files.byId(id));
  if (file && file.objectKey !== key) await objects.remove(key);
}

/** Copies the upload to a key that clients cannot write to. */
async function copied(
  { files: { objects } }: MultiStepContext,
  { tenantId }: Call,
  {
    claim: {
      upload: { id, sizeBytes, createdAt, claimedUntil },
      tookOver,
    },
    from,
  }: { readonly claim: Claim; readonly from: string },
): Promise<StoredObject> {
  const uploaded = await objects.head(from);
  if (!uploaded) throw fail('FILE_NOT_UPLOADED', {});
  if (uploaded.sizeBytes !== sizeBytes) {
    await objects.remove(from);
    throw fail('FILE_SIZE_MISMATCH', { announcedBytes: sizeBytes, uploadedBytes: uploaded.sizeBytes });
  }
  const key = fileKey(tenantId, id, iso(createdAt));
  const object = await objects.copy(from, tookOver ? fileKeyAgain(key, claimedUntil) : key, uploaded.etag);
  // It is being overwritten: that upload must be confirmed again.
  if (!object) throw fail('FILE_NOT_UPLOADED', {});
  return object;
}
