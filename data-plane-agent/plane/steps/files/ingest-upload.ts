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
import { quarantined, recordScan, SCAN_LEASE_MS, tell } from './record-scan.js';

/**
 * Brings an upload to its final key and looks at it there: the URL of the upload stays good for a while, and what is
 * put to it meanwhile is not what was looked at. Broken off anywhere and begun again it comes to the same.
 */
export async function ingestUpload(work: MultiStepContext, call: Call, claim: Claim): Promise<FileRecord> {
  const { upload } = claim;
  const {
    files: { objects },
    clock,
  } = work;
  const from = uploadKey(call.tenantId, upload.id);
  const object = await moved(work, call, { claim, from });
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
    // One that took longer than its claim holds may no longer know what lies under the key.
    if (!(await context.store.uploads.finish(id, until))) throw fail('FILE_BEING_CONFIRMED', { retryAfterSeconds: 5 });
    await context.store.files.insert(row);
    if (isInfected) tell(context, row);
    isMine = true;
    return fileAnswer(row);
  });

  work.afterwards(async () => {
    if (!isMine) return removeOther(work, id, object.key);
    // One that fails leaves the others done: the sweep finds what stays.
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

/** The copy of a confirmation that came too late: another has made the file, of a copy of its own. */
async function removeOther({ files: { objects }, read }: MultiStepContext, id: string, key: string): Promise<void> {
  const file = await read(({ store }) => store.files.byId(id));
  if (file && file.objectKey !== key) await objects.remove(key);
}

/** Copies what was uploaded out of the clients' reach. */
async function moved(
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
  const there = await objects.head(from);
  if (!there) throw fail('FILE_NOT_UPLOADED', {});
  if (there.sizeBytes !== sizeBytes) {
    await objects.remove(from);
    throw fail('FILE_SIZE_MISMATCH', { announcedBytes: sizeBytes, uploadedBytes: there.sizeBytes });
  }
  const key = fileKey(tenantId, id, iso(createdAt));
  const object = await objects.copy(from, tookOver ? fileKeyAgain(key, claimedUntil) : key, there.etag);
  // It is being put anew: whoever does that confirms it when it is there.
  if (!object) throw fail('FILE_NOT_UPLOADED', {});
  return object;
}
