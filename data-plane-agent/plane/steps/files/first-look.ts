import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { Finding } from '../../domain/files/scans.js';
import { contentCheck } from '../../files/content/content-type.js';
import { timeoutFor } from '../../files/objects/deadline.js';
import { ObjectStoreError } from '../../files/objects/object-store.js';
import { OneReading } from '../../files/one-reading.js';
import type { FileServices } from '../../files/services.js';
import type { MultiStepContext } from '../operation-context.js';
import { SCAN_LEASE_MS } from './record-scan.js';
import { scanError, BYTES_MISSING, scanBranch, type Bytes } from './scan-object.js';

/** How long a confirmation waits for the scanner; the scan then continues in the background. */
const INLINE_SCAN_MS = 5_000;

interface Scanned {
  readonly finding: Finding;
  readonly signatures: string | null;
}

/** `rest`: the result of a scan that takes longer than the confirmation waits. */
export type FirstScan =
  'skipped' | ({ readonly isOver: true } & Scanned) | { readonly isOver: false; readonly rest: Promise<Scanned> };

/** `reason`: why the content contradicts its declared type. It was then not scanned. */
export type FirstLook = { readonly reason: string } | { readonly sha256: string; readonly scan: FirstScan };

/** Reads a stored object once for its hash, the content type check, the archive check and the scanner. */
export async function firstLook(
  { files, signal }: Pick<MultiStepContext, 'files' | 'signal'>,
  bytes: Bytes,
  contentType: string,
): Promise<FirstLook> {
  const { objectKey, sizeBytes } = bytes;
  const content = await files.objects.read(objectKey, {
    sizeBytes,
    signal: AbortSignal.timeout(Math.ceil(timeoutFor(sizeBytes)) + INLINE_SCAN_MS),
  });
  if (!content) throw fail('FILE_NOT_UPLOADED', {});
  const hash = createHash('sha256');
  const check = contentCheck(contentType);
  const reading = new OneReading(storeStream(content), (piece) => {
    hash.update(piece);
    check.write(piece);
  });
  const scan = files.policy.scans && sizeBytes > 0 ? beginScan(files, bytes, reading) : undefined;
  try {
    await reading.run();
  } catch (error) {
    scan?.decide(scanError(error));
    throw error;
  }
  const reason = check.end();
  if (reason !== undefined) {
    scan?.decide(NOT_SCANNED);
    return { reason };
  }
  const sha256 = hash.digest('hex');
  if (!scan)
    return {
      sha256,
      scan: sizeBytes === 0 ? { isOver: true, signatures: null, finding: { status: 'clean' } } : 'skipped',
    };
  scan.decide(await versionFault(files, bytes, sha256));
  return { sha256, scan: await inTime(scan, signal) };
}

const NOT_SCANNED: Finding = { status: 'error', reason: 'The content contradicts its declared type.', isFinal: true };

interface RunningScan {
  readonly rest: Promise<Scanned>;
  /** Called once all bytes are read: a finding replaces the scanner's result; `undefined` lets the scanner decide. */
  decide(finding: Finding | undefined): void;
  /** How long the reading has waited for the scanner. */
  waitedMs(): number;
}

function beginScan(files: FileServices, bytes: Bytes, reading: OneReading): RunningScan {
  const scanner = reading.branch({ timeoutMs: INLINE_SCAN_MS });
  const { promise: instead, resolve: decide } = Promise.withResolvers<Finding | undefined>();
  // Read first: with signatures loaded during the scan, the file is scanned again.
  const version = files.scanner.version();
  const finding = scanBranch({
    files,
    bytes,
    reading,
    scanner,
    signal: AbortSignal.timeout(SCAN_LEASE_MS),
    ready: version,
    instead,
  });
  const rest = Promise.all([version, finding]).then(([is, found]) => ({
    signatures: is?.signatures ?? null,
    finding: found,
  }));
  rest.catch(() => undefined); // refused content leaves it unobserved
  return { rest, decide, waitedMs: () => scanner.waitedMs };
}

/** The scan is valid for one version of the bytes. Where entity tags are SHA-256 hashes, no request is needed. */
async function versionFault(
  { objects }: FileServices,
  { objectKey, etag }: Bytes,
  sha256: string,
): Promise<Finding | undefined> {
  if (etag === sha256) return undefined;
  try {
    return (await objects.head(objectKey))?.etag === etag ? undefined : BYTES_MISSING;
  } catch (error) {
    return scanError(error);
  }
}

async function inTime({ rest, waitedMs }: RunningScan, signal: AbortSignal): Promise<FirstScan> {
  const settled = new AbortController();
  // Aborting the wait is expected.
  const over = sleep(Math.max(0, INLINE_SCAN_MS - waitedMs()), undefined, {
    signal: AbortSignal.any([settled.signal, signal]),
  }).catch(() => undefined);
  const found = await Promise.race([rest, over]);
  settled.abort();
  signal.throwIfAborted();
  return found ? { isOver: true, ...found } : { isOver: false, rest };
}

/** Reports an interrupted or slow stream as a failure of the store. */
async function* storeStream(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    throw error instanceof ObjectStoreError
      ? error
      : new ObjectStoreError('unavailable', 'the object store ended the stream in the middle of a file', {
          cause: error,
        });
  }
}
