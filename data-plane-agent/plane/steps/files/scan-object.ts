import { finished } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { Finding } from '../../domain/files/scans.js';
import type { FileRow } from '../../tables/files.js';
import { inspectArchive, UNPACKS_TO_TOO_MUCH } from '../../files/archives/archive-limits.js';
import { ObjectStoreError } from '../../files/objects/object-store.js';
import { OneReading, type Branch } from '../../files/one-reading.js';
import { sizeText } from '../../files/scanner/clamd-settings.js';
import type { FileServices } from '../../files/services.js';

export type Bytes = Pick<FileRow, 'objectKey' | 'etag' | 'sizeBytes'>;

/** The object is missing, or has other bytes. */
export const BYTES_MISSING: Finding = {
  status: 'error',
  reason: 'The object store no longer has these bytes.',
  isFinal: true,
};

/**
 * Scans a stored file for malware, as `scanBranch` does. Never rejects: failures and an aborted signal result in
 * `error`.
 */
export async function scanObject(files: FileServices, bytes: Bytes, signal: AbortSignal): Promise<Finding> {
  const { objectKey, etag, sizeBytes } = bytes;
  if (sizeBytes === 0) return { status: 'clean' };
  let content: Readable | undefined;
  try {
    const stored = await files.objects.head(objectKey);
    content = stored?.etag === etag ? await files.objects.read(objectKey, { sizeBytes, signal }) : undefined;
    if (!content) return BYTES_MISSING;
    const reading = new OneReading(content as AsyncIterable<Buffer>);
    const scan = scanBranch({ files, bytes, reading, scanner: reading.branch(), signal });
    // The scan reports an interrupted reading.
    await reading.run().catch(() => undefined);
    return await scan;
  } catch (error) {
    return scanError(error, signal);
  } finally {
    if (content) await closed(content);
  }
}

export interface ScanOfReading {
  readonly files: FileServices;
  readonly bytes: Bytes;
  /** Not yet started. */
  readonly reading: OneReading;
  /** The scanner's input. If it falls behind the reading, the rest is read from the store again. */
  readonly scanner: Branch;
  readonly signal: AbortSignal;
  /** Awaited before the scanner is called. */
  readonly ready?: Promise<unknown>;
  /**
   * Resolves once all is read; a finding replaces the scanner's result. Until then the scanner does not get the end of
   * the content. Must not reject.
   */
  readonly instead?: Promise<Finding | undefined>;
}

/**
 * Scans content for malware while it is read. Archives are also unpacked here, since a scanner answers OK for some that
 * exceed its limits; malware it does find counts. The scanner starts at the end of the content, which is withheld from
 * decompression bombs: they would keep it busy without result. Never rejects.
 */
export async function scanBranch(reading: ScanOfReading): Promise<Finding> {
  const began = performance.now();
  const finding = await verdictOf(reading);
  // Otherwise what was found before the scan is the result of no scan.
  if ((await reading.instead) === undefined) reading.files.onScanned(finding, (performance.now() - began) / 1000);
  return finding;
}

async function verdictOf({ files, bytes, reading, scanner, signal, ready, instead }: ScanOfReading): Promise<Finding> {
  const { sizeBytes } = bytes;
  const archive = inspectArchive(reading.branch().content as AsyncIterable<Buffer>);
  const known = archive.then(
    async ({ fault }) => (await instead) ?? (fault === UNPACKS_TO_TOO_MUCH ? uninspectable(fault) : undefined),
  );
  known.catch(() => undefined); // the rejection of `archive` is handled below
  const content = Readable.from(forScanner(files, bytes, { scanner, signal, known }), { objectMode: false });
  // Also if it is closed before its first read.
  content.once('close', () => void scanner.content.destroy());
  try {
    await ready;
    const scan = files.scanner.scan(content, { sizeBytes, signal });
    const { fault, largestPart } = await archive;
    const found = await known;
    if (found) return found;
    const verdict = await scan;
    if (verdict.status === 'infected') return verdict;
    if (fault !== undefined) return uninspectable(fault);
    if (verdict.status === 'error') return { ...verdict, isFinal: verdict.isFinal ?? false };
    // A scanner answers OK for an archive of which it has skipped a file.
    const { partBytes } = files.scanner.limits();
    return largestPart > partBytes ? skipped(partBytes) : verdict;
  } catch (error) {
    return scanError(error, signal);
  } finally {
    await closed(content);
  }
}

const uninspectable = (fault: string): Finding => ({
  status: 'error',
  reason: `The archive ${fault}: its content cannot be checked.`,
  isFinal: true,
});

/** Not final: the limit of the scanner can be raised. */
const skipped = (partBytes: number): Finding => ({
  status: 'error',
  reason: `The archive has a file larger than the scanner inspects, ${sizeText(partBytes)}: MaxFileSize is too small in its configuration.`,
  isFinal: false,
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
    if (!again) throw new ObjectStoreError('unavailable', 'the object store no longer has these bytes');
    let passed = 0;
    for await (const piece of again as AsyncIterable<Buffer>) {
      const left = piece.subarray(Math.max(0, taken - passed));
      passed += piece.length;
      if (left.length > 0) yield left;
    }
  }
  const found = await known;
  if (found) throw new Error('the scan is not needed');
}

export function scanError(error: unknown, signal?: AbortSignal): Finding {
  if (signal?.aborted === true) return { status: 'error', reason: 'The scan took too long.', isFinal: false };
  if (error instanceof ObjectStoreError)
    return { status: 'error', reason: 'The object store was unavailable.', isFinal: false };
  return { status: 'error', reason: 'The file could not be read completely.', isFinal: false };
}

/** Closes the stream after an interrupted reading. */
async function closed(content: Readable): Promise<void> {
  content.destroy();
  await finished(content).catch(() => undefined); // destroyed above
}
