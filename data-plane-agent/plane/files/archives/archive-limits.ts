import { ByteReader } from './byte-reader.js';
import { ArchiveFault, isGzip, isZip, type Budget } from './archive-budget.js';
import { gunzipped } from './inflated.js';
import { zipParts } from './zip-parts.js';

export interface ArchiveLimits {
  /** Bytes that may come out of all its layers together. */
  readonly unpackedBytes: number;
  /** Files in all its layers together. */
  readonly entries: number;
  /** Archives in archives: 1 is an archive of files. */
  readonly depth: number;
}

/**
 * Below those of docker/clamd.conf, so that the scanner's own are not met: a scanner that leaves out what is beyond its
 * limits answers OK in some cases even when it is told to speak up. An honest document of 50 MiB unpacks to less.
 */
export const ARCHIVE_LIMITS: ArchiveLimits = { unpackedBytes: 200 * 2 ** 20, entries: 10_000, depth: 8 };

/** The fault of a bomb. */
export const UNPACKS_TO_TOO_MUCH = 'unpacks to more than the limit';

/**
 * Why an archive (zip and what is made of it: docx, xlsx, pptx, odt, ods, ofd; gzip; one in the other) cannot be relied
 * on to have been looked into: `undefined` when it can, or when it is no archive. It unpacks to more than the limits,
 * is encrypted, damaged, packed by a method that is not known, or says one thing in its directory and another before
 * its files. Reads the content once, in flat memory, and only to where it is clear; what it leaves is ended. Rejects
 * only when the content does.
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

/** To the end of the content, whatever it is. `budget` is what is left. */
async function unpack(bytes: ByteReader, budget: Budget): Promise<void> {
  const head = await bytes.peek(4);
  if (isZip(head)) {
    await inside(budget, async () => {
      for await (const part of zipParts(bytes, budget)) await unpack(new ByteReader(counted(part, budget)), budget);
    });
  } else if (isGzip(head)) {
    await inside(budget, () => unpack(new ByteReader(counted(gunzipped(bytes), budget)), budget));
    if ((await bytes.next()) !== undefined) throw new ArchiveFault('goes on after its end');
  } else {
    while ((await bytes.next()) !== undefined); // counted where they come from
  }
}

async function inside(budget: Budget, work: () => Promise<void>): Promise<void> {
  if (budget.depth === 0) throw new ArchiveFault('holds archives in archives deeper than the limit');
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
