import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { noteStreamed } from '../../../base/collect-garbage.js';
import { fail } from '../../../base/failures.js';
import type { StoredBytes } from '../../contract/records/moving.js';
import { timeoutFor } from '../../files/objects/deadline.js';
import { uploadKey, type ObjectStore, type StoredObject } from '../../files/objects/object-store.js';
import type { FileRow } from '../../tables/files.js';
import type { MultiStepContext } from '../operation-context.js';

/** The record of a file. Throws NOT_FOUND, also if its bytes were removed. */
export async function movedFile({ read }: Pick<MultiStepContext, 'read'>, id: string): Promise<FileRow> {
  const row = await read(({ store }) => store.files.byId(id));
  if (!row || row.objectKey === '') throw fail('NOT_FOUND', {});
  return row;
}

/**
 * Where a part of a file is kept until all are there: in the area of uploads, from which a sweep removes what an
 * interrupted move leaves.
 */
export const partKey = (tenantId: string, fileId: string, part: number): string =>
  `${uploadKey(tenantId, fileId)}.part${part}`;

/** What the object store has of a file, read in full. */
export async function storedBytes(objects: ObjectStore, key: string): Promise<StoredBytes> {
  const about = await objects.head(key);
  if (!about) return { sizeBytes: 0, sha256: null };
  const { sizeBytes } = about;
  const content = await objects.read(key, { sizeBytes, signal: AbortSignal.timeout(Math.ceil(timeoutFor(sizeBytes))) });
  if (!content) return { sizeBytes: 0, sha256: null };
  const hash = createHash('sha256');
  for await (const piece of content as AsyncIterable<Buffer>) {
    noteStreamed(piece.length);
    hash.update(piece);
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

/** Writes the parts of a file as one object, and removes them. Throws DATA_MOVE_REFUSED if one is missing. */
export async function joinParts(
  objects: ObjectStore,
  { tenantId, row, parts }: { readonly tenantId: string; readonly row: FileRow; readonly parts: number },
): Promise<StoredObject> {
  const found: StoredObject[] = [];
  for (let part = 0; part < parts; part += 1) {
    const about = await objects.head(partKey(tenantId, row.id, part));
    if (!about) throw fail('DATA_MOVE_REFUSED', { reason: 'part' });
    found.push(about);
  }
  const sizeBytes = found.reduce((sum, part) => sum + part.sizeBytes, 0);
  const signal = AbortSignal.timeout(Math.ceil(timeoutFor(sizeBytes) * 2));
  const stored = await objects.write(row.objectKey, Readable.from(contentOf(objects, found, signal)), {
    sizeBytes,
    contentType: row.contentType,
  });
  for (const { key } of found) await objects.remove(key);
  return stored;
}

async function* contentOf(
  objects: ObjectStore,
  parts: readonly StoredObject[],
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  for (const { key, sizeBytes } of parts) {
    const content = await objects.read(key, { sizeBytes, signal });
    if (!content) throw fail('DATA_MOVE_REFUSED', { reason: 'part' });
    yield* content as AsyncIterable<Buffer>;
  }
}
