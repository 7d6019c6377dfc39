import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import type { FileRecord } from '../../contract/records/files.js';
import { fileAnswer } from '../../domain/files/answer.js';
import type { FileRow, UploadRow } from '../../tables/files.js';
import { NOT_SCANNED, scanned, waitingSince, type Finding } from '../../domain/files/scans.js';
import { contentCheck } from '../../files/content/content-type.js';
import { patienceFor } from '../../files/objects/deadline.js';
import { fileKey, fileKeyAgain, ObjectStoreError, uploadKey, type StoredObject } from '../../files/objects/object-store.js';
import type { Work } from '../operation-context.js';
import type { Claim } from './claim-upload.js';
import { quarantined, recordScan, SCAN_LEASE_MS, tell } from './record-scan.js';
import { scanObject } from './scan-object.js';

/** So long a confirmation waits for the scanner; then the scan goes on without it. */
const INLINE_SCAN_MS = 5_000;

/**
 * Brings an upload to its final key and looks at it there: the URL of the upload stays good for a while, and what is put to it meanwhile is
 * not what was looked at. Broken off anywhere and begun again it comes to the same.
 */
export async function takeIn(work: Work, call: Call, claim: Claim): Promise<FileRecord> {
  const { upload } = claim;
  const { files: { objects }, clock } = work;
  const from = uploadKey(call.tenantId, upload.id);
  const object = await moved(work, call, claim, from);
  const bytes = { objectKey: object.key, etag: object.etag, sizeBytes: object.sizeBytes };
  const sha256 = await inspected(work, upload, object, from);
  const first = await firstScan(work, bytes);

  const now = clock.now();
  const { id, fileName, contentType, kind, subjectId, contractId, paymentId, uploadedBy } = upload;
  const scan = first === 'skipped' ? NOT_SCANNED : first.isOver ? scanned(NOT_SCANNED, first.finding, { now, signatures: first.signatures }) : waitingSince(now + SCAN_LEASE_MS);
  const isInfected = scan.scanStatus === 'infected';
  const row: FileRow = {
    id, fileName, contentType, sha256, kind, subjectId, contractId, paymentId, uploadedBy, ...bytes, ...scan,
    ...(isInfected ? await quarantined(work, call, { id, ...bytes }) : {}),
    createdAt: now, updatedAt: now,
  };
  const until = await claim.settled();
  let isMine = false;
  const answer = await work.conclude(async (tools) => {
    const before = await tools.store.files.byId(id);
    if (before) return fileAnswer(before);
    // One that took longer than its claim holds may no longer know what lies under the key.
    if (!(await tools.store.uploads.finish(id, until))) throw fail('FILE_BEING_CONFIRMED', { retryAfterSeconds: 5 });
    await tools.store.files.insert(row);
    if (isInfected) tell(tools, row);
    isMine = true;
    return fileAnswer(row);
  });

  work.afterwards(async () => {
    if (!isMine) return removeOther(work, id, object.key);
    // One that fails leaves the others done: the sweep finds what stays.
    await Promise.all([objects.remove(from), isInfected && objects.remove(object.key), first !== 'skipped' && !first.isOver && first.rest.then(({ finding, signatures }) => recordScan(work, call, row, finding, signatures))]);
  });
  return answer;
}

/** The copy of a confirmation that came too late: another has made the file, of a copy of its own. */
async function removeOther({ files: { objects }, read }: Work, id: string, key: string): Promise<void> {
  const file = await read(({ store }) => store.files.byId(id));
  if (file && file.objectKey !== key) await objects.remove(key);
}

/** Copies what was uploaded out of the clients' reach. */
async function moved({ files: { objects } }: Work, { tenantId }: Call, { upload: { id, sizeBytes, createdAt, claimedUntil }, tookOver }: Claim, from: string): Promise<StoredObject> {
  const there = await objects.head(from);
  if (!there) throw fail('FILE_NOT_UPLOADED', {});
  if (there.sizeBytes !== sizeBytes) {
    await objects.remove(from);
    throw fail('FILE_SIZE_MISMATCH', { announcedBytes: sizeBytes, uploadedBytes: there.sizeBytes });
  }
  const key = fileKey(tenantId, id, new Date(createdAt).toISOString());
  const object = await objects.copy(from, tookOver ? fileKeyAgain(key, claimedUntil) : key, there.etag);
  // It is being put anew: whoever does that confirms it when it is there.
  if (!object) throw fail('FILE_NOT_UPLOADED', {});
  return object;
}

/** The hash of the bytes, which are what they are said to be. */
async function inspected({ files: { objects } }: Work, { contentType }: UploadRow, object: StoredObject, from: string): Promise<string> {
  const content = await objects.read(object.key, { sizeBytes: object.sizeBytes, signal: AbortSignal.timeout(Math.ceil(patienceFor(object.sizeBytes))) });
  if (!content) throw fail('FILE_NOT_UPLOADED', {});
  const hash = createHash('sha256');
  const check = contentCheck(contentType);
  for await (const chunk of toTheEnd(content)) {
    hash.update(chunk);
    check.write(chunk);
  }
  const reason = check.end();
  if (reason !== undefined) {
    await objects.remove(object.key);
    await objects.remove(from);
    throw fail('FILE_CONTENT_MISMATCH', { contentType, reason });
  }
  return hash.digest('hex');
}

/** What breaks off on the way, or takes too long, is the store's failure. */
async function* toTheEnd(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    throw error instanceof ObjectStoreError ? error : new ObjectStoreError('unavailable', 'the object store broke off in the middle of a file', { cause: error });
  }
}

interface Scanned {
  readonly finding: Finding;
  readonly signatures: string | null;
}

/** `rest`: what the scan comes to, when it takes longer than whoever confirms waits for it. */
type FirstScan = 'skipped' | ({ readonly isOver: true } & Scanned) | { readonly isOver: false; readonly rest: Promise<Scanned> };

async function firstScan({ files, signal }: Work, bytes: Pick<FileRow, 'objectKey' | 'etag' | 'sizeBytes'>): Promise<FirstScan> {
  if (bytes.sizeBytes === 0) return { isOver: true, signatures: null, finding: { status: 'clean' } };
  if (!files.policy.scans) return 'skipped';
  const rest = scanWithVersion(files, bytes);
  const settled = new AbortController();
  // The wait that is called off is one that nobody needs any more.
  const inTime = await Promise.race([rest, sleep(INLINE_SCAN_MS, undefined, { signal: AbortSignal.any([settled.signal, signal]) }).catch(() => undefined)]);
  settled.abort();
  signal.throwIfAborted();
  return inTime ? { isOver: true, ...inTime } : { isOver: false, rest };
}

/** Asked first: with signatures that come while it is scanned it is scanned again. */
async function scanWithVersion(files: Work['files'], bytes: Pick<FileRow, 'objectKey' | 'etag' | 'sizeBytes'>): Promise<Scanned> {
  const signatures = (await files.scanner.version())?.signatures ?? null;
  return { signatures, finding: await scanObject(files, bytes, AbortSignal.timeout(SCAN_LEASE_MS)) };
}
