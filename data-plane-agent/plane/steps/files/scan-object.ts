import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import type { Finding } from '../../domain/files/scans.js';
import type { FileRow } from '../../tables/files.js';
import { archiveFault, UNPACKS_TO_TOO_MUCH } from '../../files/archives/archive-limits.js';
import { ObjectStoreError } from '../../files/objects/object-store.js';
import type { FileServices } from '../../files/services.js';

/**
 * Looks for malware in the bytes of a file. First it is unpacked here, if it is an archive: a scanner answers OK to some that go beyond its limits, and what it finds counts
 * all the same. Both readings stream; nothing is kept. Never rejects: what cannot be looked at is an `error`. Aborting the signal makes it one too.
 */
export async function scanObject({ objects, scanner }: FileServices, { objectKey, etag, sizeBytes }: Pick<FileRow, 'objectKey' | 'etag' | 'sizeBytes'>, signal: AbortSignal): Promise<Finding> {
  if (sizeBytes === 0) return { status: 'clean' };
  const opened: Readable[] = [];
  const open = async (): Promise<Readable | undefined> => {
    const content = await objects.read(objectKey, { sizeBytes, signal });
    if (content) opened.push(content);
    return content;
  };
  try {
    const there = await objects.head(objectKey);
    if (there?.etag !== etag) return { status: 'error', reason: 'The store no longer has these bytes.', isFinal: true };
    const packed = await open();
    const fault = packed && (await archiveFault(packed));
    const unseen: Finding | undefined = fault === undefined ? undefined : { status: 'error', reason: `It cannot be looked into: the archive ${fault}.`, isFinal: true };
    // A bomb would keep the scanner busy for long, and it would not see through it either.
    if (unseen && fault === UNPACKS_TO_TOO_MUCH) return unseen;
    const content = await open();
    if (!content) return { status: 'error', reason: 'The store no longer has these bytes.', isFinal: true };
    const verdict = await scanner.scan(content, { sizeBytes, signal });
    if (verdict.status === 'infected') return verdict;
    return unseen ?? (verdict.status === 'error' ? { ...verdict, isFinal: verdict.isFinal ?? false } : verdict);
  } catch (error) {
    if (signal.aborted) return { status: 'error', reason: 'The scan took too long.', isFinal: false };
    if (error instanceof ObjectStoreError) return { status: 'error', reason: 'The object store was out of reach.', isFinal: false };
    return { status: 'error', reason: 'The bytes could not be read to their end.', isFinal: false };
  } finally {
    // A reading that broke off leaves nothing open.
    for (const content of opened) await ended(content);
  }
}

async function ended(content: Readable): Promise<void> {
  content.destroy();
  await finished(content).catch(() => undefined); // that it was broken off is what we did
}
