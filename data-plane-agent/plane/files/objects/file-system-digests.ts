import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../base/clock.js';

/** SHA-256 of open files, in hex. Aborting the signal rejects. */
export interface Digests {
  of(file: FileHandle, signal: AbortSignal): Promise<string>;
}

/**
 * Reads a file once and then believes its inode: whoever writes to it changes the time of its last change, which nobody
 * can set. Only what a clock of the file system could not show is not believed: a file that was changed a moment ago
 * may be changed again in the same tick. And as disks fail without a word, each is read again after an hour.
 */
export function createDigests(clock: Clock): Digests {
  const known = new LRUCache<string, string>({
    max: 10_000,
    ttl: BELIEVED_MS,
    perf: { now: () => clock.now() },
    ttlResolution: 0,
  });
  return {
    of: async (file, signal) => {
      const found = await file.stat({ bigint: true });
      const isStill = clock.now() - Number(found.ctimeMs) > TICK_MS;
      const inode = inodeOf(found);
      const digest = known.get(inode) ?? (await hashOf(file, signal));
      // Under the inode as it was before: what has changed while it was read has another one now.
      if (isStill && !known.has(inode)) known.set(inode, digest);
      return digest;
    },
  };
}

const BELIEVED_MS = 3_600_000;
/** The coarsest of file systems counts in two seconds. */
const TICK_MS = 3_000;

const inodeOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');

async function hashOf(file: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of addAbortSignal(
    signal,
    file.createReadStream({ autoClose: false }),
  ) as AsyncIterable<Buffer>)
    hash.update(chunk);
  return hash.digest('hex');
}
