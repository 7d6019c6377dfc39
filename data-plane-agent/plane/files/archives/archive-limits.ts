import { ByteReader } from './byte-reader.js';
import { ArchiveFault, isGzip, isZip, type Budget } from './archive-budget.js';
import { gunzipped } from './inflated.js';
import { zipParts } from './zip-parts.js';

export interface ArchiveLimits {
  /** Unpacked bytes of all layers together. */
  readonly unpackedBytes: number;
  /** Files in all layers together. */
  readonly entries: number;
  /** Nesting of archives: 1 is an archive of files. */
  readonly depth: number;
}

/**
 * Below the limits in docker/clamd.conf, so that the scanner does not reach its own: a scanner that skips content
 * beyond its limits may answer OK even if configured to alert. Regular documents of 50 MiB unpack to less.
 */
export const ARCHIVE_LIMITS: ArchiveLimits = { unpackedBytes: 200 * 2 ** 20, entries: 10_000, depth: 8 };

/** The fault of a decompression bomb. */
export const UNPACKS_TO_TOO_MUCH = 'unpacks to more than the limit';

export interface InspectedArchive {
  /** Completes the sentence "The archive …". */
  readonly fault: string | undefined;
  /** The size of the largest file in any layer, as far as read. */
  readonly largestPart: number;
}

/**
 * Why the content of an archive (zip and its derivatives docx, xlsx, pptx, odt, ods, ofd; gzip; nested ones) cannot be
 * checked completely; no fault when it can, or when it is no archive. Faults are exceeded limits, encryption,
 * damage, an unknown compression method, or a directory that contradicts the file headers. Reads the content once in
 * constant memory, stops at the first fault, and closes it. Rejects only when the content does.
 */
export async function inspectArchive(
  content: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<InspectedArchive> {
  const bytes = new ByteReader(content);
  const budget = { ...limits, largestPart: 0 };
  try {
    const head = await bytes.peek(4);
    if (isZip(head) || isGzip(head)) await unpack(bytes, budget);
    return { fault: undefined, largestPart: budget.largestPart };
  } catch (error) {
    if (error instanceof ArchiveFault) return { fault: error.message, largestPart: budget.largestPart };
    throw error;
  } finally {
    await bytes.close();
  }
}

/** Reads the content to its end and unpacks it if it is an archive. `budget` holds the remaining limits. */
async function unpack(bytes: ByteReader, budget: Budget): Promise<void> {
  const head = await bytes.peek(4);
  if (isZip(head)) {
    await atNextDepth(budget, async () => {
      for await (const part of zipParts(bytes, budget)) await unpack(new ByteReader(counted(part, budget)), budget);
    });
  } else if (isGzip(head)) {
    await atNextDepth(budget, () => unpack(new ByteReader(counted(gunzipped(bytes), budget)), budget));
    if ((await bytes.next()) !== undefined) throw new ArchiveFault('has data after its end');
  } else {
    while ((await bytes.next()) !== undefined); // counted by `counted`
  }
}

async function atNextDepth(budget: Budget, work: () => Promise<void>): Promise<void> {
  if (budget.depth === 0) throw new ArchiveFault('nests archives deeper than the limit');
  budget.depth -= 1;
  await work();
  budget.depth += 1;
}

async function* counted(source: AsyncIterable<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  let partBytes = 0;
  for await (const piece of source) {
    partBytes += piece.length;
    budget.largestPart = Math.max(budget.largestPart, partBytes);
    budget.unpackedBytes -= piece.length;
    if (budget.unpackedBytes < 0) throw new ArchiveFault(UNPACKS_TO_TOO_MUCH);
    yield piece;
  }
}
