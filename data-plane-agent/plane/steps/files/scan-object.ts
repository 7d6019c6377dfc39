import { finished } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { Finding } from '../../domain/files/scans.js';
import type { FileRow } from '../../tables/files.js';
import { archiveFault, UNPACKS_TO_TOO_MUCH } from '../../files/archives/archive-limits.js';
import { ObjectStoreError } from '../../files/objects/object-store.js';
import { OneReading, type Branch } from '../../files/one-reading.js';
import type { FileServices } from '../../files/services.js';

export type Bytes = Pick<FileRow, 'objectKey' | 'etag' | 'sizeBytes'>;

/** What the store no longer has, or has other bytes of. */
export const GONE: Finding = { status: 'error', reason: 'The store no longer has these bytes.', isFinal: true };

/**
 * Looks for malware in the bytes of a file, as `scanBranch` does. Never rejects: what cannot be looked at is an
 * `error`. Aborting the signal makes it one too.
 */
export async function scanObject(files: FileServices, bytes: Bytes, signal: AbortSignal): Promise<Finding> {
  const { objectKey, etag, sizeBytes } = bytes;
  if (sizeBytes === 0) return { status: 'clean' };
  let content: Readable | undefined;
  try {
    const there = await files.objects.head(objectKey);
    content = there?.etag === etag ? await files.objects.read(objectKey, { sizeBytes, signal }) : undefined;
    if (!content) return GONE;
    const reading = new OneReading(content as AsyncIterable<Buffer>);
    const scan = scanBranch({ files, bytes, reading, scanner: reading.branch(), signal });
    // A reading that breaks off is the scan's failure, which the scan tells.
    await reading.run().catch(() => undefined);
    return await scan;
  } catch (error) {
    return couldNot(error, signal);
  } finally {
    if (content) await ended(content);
  }
}

export interface ScanOfReading {
  readonly files: FileServices;
  readonly bytes: Bytes;
  /** Not yet begun. */
  readonly reading: OneReading;
  /** What the scanner reads. When the reading left it behind, it reads the rest from the store by itself. */
  readonly scanner: Branch;
  readonly signal: AbortSignal;
  /** Before the scanner is asked. */
  readonly ready?: Promise<unknown>;
  /**
   * Once all has been read: what is found without a scanner's word. Until it is settled the scanner does not have the
   * end. Does not reject.
   */
  readonly instead?: Promise<Finding | undefined>;
}

/**
 * Looks for malware in what is read. It is unpacked here as well, if it is an archive: a scanner answers OK to some
 * that go beyond its limits, and what it finds counts all the same. It begins to look when it has the end, which it is
 * only given of what is to be looked at: a bomb would keep it busy for long, and it would not see through it either.
 * Never rejects.
 */
export async function scanBranch({
  files,
  bytes,
  reading,
  scanner,
  signal,
  ready,
  instead,
}: ScanOfReading): Promise<Finding> {
  const { sizeBytes } = bytes;
  const archive = archiveFault(reading.branch().content as AsyncIterable<Buffer>);
  const known = archive.then(
    async (fault) => (await instead) ?? (fault === UNPACKS_TO_TOO_MUCH ? unseen(fault) : undefined),
  );
  known.catch(() => undefined); // told by the archive, which is waited for below
  const content = Readable.from(forScanner(files, bytes, { scanner, signal, known }), { objectMode: false });
  // Also when it was ended before it was begun.
  content.once('close', () => void scanner.content.destroy());
  try {
    await ready;
    const scan = files.scanner.scan(content, { sizeBytes, signal });
    const fault = await archive;
    const found = await known;
    if (found) return found;
    const verdict = await scan;
    if (verdict.status === 'infected') return verdict;
    if (fault !== undefined) return unseen(fault);
    return verdict.status === 'error' ? { ...verdict, isFinal: verdict.isFinal ?? false } : verdict;
  } catch (error) {
    return couldNot(error, signal);
  } finally {
    await ended(content);
  }
}

const unseen = (fault: string): Finding => ({
  status: 'error',
  reason: `It cannot be looked into: the archive ${fault}.`,
  isFinal: true,
});

interface ForScanner {
  readonly scanner: Branch;
  readonly signal: AbortSignal;
  readonly known: Promise<Finding | undefined>;
}

async function* forScanner(
  { objects }: FileServices,
  { objectKey, sizeBytes }: Bytes,
  { scanner, signal, known }: ForScanner,
): AsyncGenerator<Buffer> {
  let taken = 0;
  for await (const piece of scanner.content as AsyncIterable<Buffer>) {
    taken += piece.length;
    yield piece;
  }
  if (scanner.isLeftBehind) {
    const again = await objects.read(objectKey, { sizeBytes, signal });
    if (!again) throw new ObjectStoreError('unavailable', 'the store no longer has these bytes');
    let passed = 0;
    for await (const piece of again as AsyncIterable<Buffer>) {
      const left = piece.subarray(Math.max(0, taken - passed));
      passed += piece.length;
      if (left.length > 0) yield left;
    }
  }
  const found = await known;
  if (found) throw new Error('it is not scanned');
}

export function couldNot(error: unknown, signal?: AbortSignal): Finding {
  if (signal?.aborted === true) return { status: 'error', reason: 'The scan took too long.', isFinal: false };
  if (error instanceof ObjectStoreError)
    return { status: 'error', reason: 'The object store was out of reach.', isFinal: false };
  return { status: 'error', reason: 'The bytes could not be read to their end.', isFinal: false };
}

/** A reading that broke off leaves nothing open. */
async function ended(content: Readable): Promise<void> {
  content.destroy();
  await finished(content).catch(() => undefined); // that it was broken off is what we did
}
