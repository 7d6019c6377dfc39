import type { Call } from '../../contract/call.js';
import { uploadKey } from '../../files/objects/object-store.js';
import { MOVED } from '../../tables/moved.js';
import type { MultiStepContext } from '../operation-context.js';
import { inMove } from './the-move.js';

/** Files and rows of one call. */
const FILES = 100;
const ROWS = 2_000;

/** Removes the bytes of some files, then their records, so that an interrupted removal continues. Returns how many. */
export async function removedFiles(
  { read, upkeep, files: { objects } }: MultiStepContext,
  { tenantId }: Call,
  moveId: string,
): Promise<number> {
  const { stored, announced } = await read(async ({ store }) => ({
    stored: await store.files.some(FILES),
    announced: await store.uploads.some(FILES),
  }));
  for (const { objectKey } of stored) if (objectKey !== '') await objects.remove(objectKey);
  for (const id of announced) await objects.remove(uploadKey(tenantId, id));
  if (stored.length + announced.length === 0) return 0;
  await upkeep(async ({ store }) => {
    await inMove(store, moveId, 'moved', 'receiving');
    for (const { id } of stored) await store.movedRows.removeFile(id);
    for (const id of announced) await store.uploads.remove(id);
  });
  return stored.length + announced.length;
}

/** Removes rows of the last table that has any. Returns how many. */
export function removedRows({ upkeep }: MultiStepContext, moveId: string): Promise<number> {
  return upkeep(async ({ store }) => {
    await inMove(store, moveId, 'moved', 'receiving');
    let removed = await store.movedRows.removeDerived();
    for (const table of MOVED.toReversed()) {
      if (removed >= ROWS) break;
      removed += await store.movedRows.remove(table, ROWS - removed);
    }
    return removed;
  });
}
