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
import { couldNot, GONE, scanBranch, type Bytes } from './scan-object.js';

/** So long a confirmation waits for the scanner; then the scan goes on without it. */
const INLINE_SCAN_MS = 5_000;

interface Scanned {
  readonly finding: Finding;
  readonly signatures: string | null;
}

/** `rest`: what the scan comes to, when it takes longer than whoever confirms waits for it. */
export type FirstScan =
  'skipped' | ({ readonly isOver: true } & Scanned) | { readonly isOver: false; readonly rest: Promise<Scanned> };

/** `reason`: why the bytes are not what they are said to be. Then no scanner has looked at them. */
export type FirstLook = { readonly reason: string } | { readonly sha256: string; readonly scan: FirstScan };

/**
 * One reading of a stored object, for its hash, for the check of its content type, for the look into an archive and for
 * the scanner.
 */
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
  const reading = new OneReading(toTheEnd(content), (piece) => {
    hash.update(piece);
    check.write(piece);
  });
  const scan = files.policy.scans && sizeBytes > 0 ? beginScan(files, bytes, reading) : undefined;
  try {
    await reading.run();
  } catch (error) {
    scan?.decide(couldNot(error));
    throw error;
  }
  const reason = check.end();
  if (reason !== undefined) {
    scan?.decide(NOT_LOOKED_AT);
    return { reason };
  }
  const sha256 = hash.digest('hex');
  if (!scan)
    return {
      sha256,
      scan: sizeBytes === 0 ? { isOver: true, signatures: null, finding: { status: 'clean' } } : 'skipped',
    };
  scan.decide(await unlessSame(files, bytes, sha256));
  return { sha256, scan: await inTime(scan, signal) };
}

const NOT_LOOKED_AT: Finding = { status: 'error', reason: 'It is not what it is said to be.', isFinal: true };

interface Begun {
  readonly rest: Promise<Scanned>;
  /** What is found without the scanner's word, once all has been read; `undefined`: the scanner has the word. */
  decide(finding: Finding | undefined): void;
  /** For how long the reading has waited for the scanner. */
  waitedMs(): number;
}

function beginScan(files: FileServices, bytes: Bytes, reading: OneReading): Begun {
  const scanner = reading.branch({ timeoutMs: INLINE_SCAN_MS });
  const { promise: instead, resolve: decide } = Promise.withResolvers<Finding | undefined>();
  // Asked first: with signatures that come while it is scanned it is scanned again.
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
  rest.catch(() => undefined); // where the bytes are refused, nobody asks what the scan came to
  return { rest, decide, waitedMs: () => scanner.waitedMs };
}

/** The scan holds of one version of the bytes. A store whose entity tags are the hash has just told. */
async function unlessSame(
  { objects }: FileServices,
  { objectKey, etag }: Bytes,
  sha256: string,
): Promise<Finding | undefined> {
  if (etag === sha256) return undefined;
  try {
    return (await objects.head(objectKey))?.etag === etag ? undefined : GONE;
  } catch (error) {
    return couldNot(error);
  }
}

async function inTime({ rest, waitedMs }: Begun, signal: AbortSignal): Promise<FirstScan> {
  const settled = new AbortController();
  // The wait that is called off is one that nobody needs any more.
  const over = sleep(Math.max(0, INLINE_SCAN_MS - waitedMs()), undefined, {
    signal: AbortSignal.any([settled.signal, signal]),
  }).catch(() => undefined);
  const found = await Promise.race([rest, over]);
  settled.abort();
  signal.throwIfAborted();
  return found ? { isOver: true, ...found } : { isOver: false, rest };
}

/** What breaks off on the way, or takes too long, is the store's failure. */
async function* toTheEnd(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    throw error instanceof ObjectStoreError
      ? error
      : new ObjectStoreError('unavailable', 'the object store broke off in the middle of a file', { cause: error });
  }
}
