import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../base/clock.js';
import { noteStreamed } from '../../../base/collect-garbage.js';

/** SHA-256 of open files, in hex. Aborting the signal rejects. */
export interface Digests {
  of(file: FileHandle, signal: AbortSignal): Promise<string>;
}

/**
 * Caches digests by inode: every write changes its ctime, which cannot be set. A digest is not cached while the file
 * could change again within one tick of the file system clock. Cached digests expire after an hour, since disks may
 * corrupt data silently.
 */
export function createDigests(clock: Clock): Digests {
  const known = new LRUCache<string, string>({
    max: 10_000,
    ttl: CACHED_MS,
    perf: { now: () => clock.now() },
    ttlResolution: 0,
  });
  return {
    of: async (file, signal) => {
      const found = await file.stat({ bigint: true });
      const isSettled = clock.now() - Number(found.ctimeMs) > TICK_MS;
      const inode = inodeOf(found);
      const digest = known.get(inode) ?? (await hashOf(file, signal));
      // Cached under the metadata from before: a change during the read results in other metadata.
      if (isSettled && !known.has(inode)) known.set(inode, digest);
      return digest;
    },
  };
}

const CACHED_MS = 3_600_000;
/** The coarsest file systems have a resolution of two seconds. */
const TICK_MS = 3_000;

const inodeOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(' ');

async function hashOf(file: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of addAbortSignal(
    signal,
    file.createReadStream({ autoClose: false }),
  ) as AsyncIterable<Buffer>) {
    noteStreamed(chunk.length);
    hash.update(chunk);
  }
  return hash.digest('hex');
}
