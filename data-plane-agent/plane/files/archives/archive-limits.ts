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

/**
 * Why the content of an archive (zip and its derivatives docx, xlsx, pptx, odt, ods, ofd; gzip; nested ones) cannot be
 * checked completely; `undefined` when it can, or when it is no archive. Reasons are exceeded limits, encryption,
 * damage, an unknown compression method, or a directory that contradicts the file headers. Reads the content once in
 * constant memory, stops at the first fault, and closes it. Rejects only when the content does.
 */
export async function archiveFault(
  content: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<string | undefined> {
  const bytes = new ByteReader(content);
  try {
    const head = await bytes.peek(4);
    if (isZip(head) || isGzip(head)) await unpack(bytes, { ...limits });
    return undefined;
  } catch (error) {
    if (error instanceof ArchiveFault) return error.message;
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
  for await (const piece of source) {
    budget.unpackedBytes -= piece.length;
    if (budget.unpackedBytes < 0) throw new ArchiveFault(UNPACKS_TO_TOO_MUCH);
    yield piece;
  }
}
