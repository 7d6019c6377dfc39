import { s } from '../../../base/schema.js';
import { iso } from '../../../base/instants.js';
import type { Call } from '../../contract/call.js';
import { RESTORABLE_MS } from '../../domain/contracts/trash.js';
import { QUARANTINE_MS, RESTORE_MARGIN_MS, STRAY_MS } from '../../domain/files/strays.js';
import { fileKey, quarantineKey, uploadKey, type ListedObject } from '../../files/objects/object-store.js';
import { multiStepOperation, type MultiStepContext } from '../../steps/operation-context.js';
import { moveToQuarantine } from '../../steps/files/record-scan.js';

/** How long an upload is claimed for its removal. */
const REMOVING_MS = 60_000;
/** Records per call, and objects looked up together. */
const AT_ONCE = 100;
/** Sorts before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Moves infected files to the quarantine where the store failed to do so earlier, and removes what is no longer needed:
 * uploads not confirmed within a day, files of contracts that can no longer be restored unless referenced elsewhere,
 * files after thirty days of quarantine, and orphaned objects left by interrupted steps.
 */
export const sweepFiles = multiStepOperation({
  effect: 'write',
  input: s.object({ orphans: s.flag('Also lists all objects of the tenant to find orphans.') }),
  output: s.object({ removed: s.integer(), more: s.flag() }),
  fails: ['OBJECT_STORE_UNAVAILABLE'],
  async perform(work, call, { orphans }) {
    const steps = [
      await unmoved(work, call),
      await unconfirmed(work, call),
      await ofDeleted(work),
      await quarantine(work),
    ];
    let removed = steps.reduce((sum, n) => sum + n, 0);
    for (const area of orphans ? ['uploads', 'tenants', 'quarantine'] : ['uploads'])
      removed += await removeOrphans(work, `${area}/${call.tenantId}/`);
    return { removed, more: steps.some((n) => n >= AT_ONCE) };
  },
});

async function unmoved(work: MultiStepContext, call: Call): Promise<number> {
  const rows = await work.read(({ store }) => store.files.toQuarantine(AT_ONCE));
  for (const row of rows) await moveToQuarantine(work, call, row);
  return rows.length;
}

async function unconfirmed(
  { files: { objects }, clock, read, upkeep }: MultiStepContext,
  { tenantId }: Call,
): Promise<number> {
  const now = clock.now();
  const old = await read(({ store }) => store.uploads.announcedBefore(now - STRAY_MS, AT_ONCE));
  let removed = 0;
  for (const { id, createdAt } of old) {
    // A concurrent confirmation, possible with wrong clocks, takes precedence.
    if (!(await upkeep(({ store }) => store.uploads.claim(id, now, now + REMOVING_MS)))) continue;
    removed += 1;
    // An interrupted confirmation may have left copies.
    const isFile = await read(async ({ store }) => (await store.files.byId(id)) !== undefined);
    const copies = isFile ? [] : [fileKey(tenantId, id, iso(createdAt)), quarantineKey(tenantId, id)];
    for (const key of [...copies, uploadKey(tenantId, id)]) await objects.remove(key);
    await upkeep(({ store }) => store.uploads.remove(id));
  }
  return removed;
}

/** Removes files of deleted contracts. It pages through them, so that files still needed do not block the others. */
async function ofDeleted({ files: { objects }, clock, read, write }: MultiStepContext): Promise<number> {
  const before = clock.now() - RESTORABLE_MS - RESTORE_MARGIN_MS;
  let removed = 0;
  let after = FIRST;
  for (;;) {
    const rows = await read(({ store }) => store.files.ofDeleted({ before, after, limit: AT_ONCE }));
    for (const row of rows) {
      // The record is deleted first, so that none remains without bytes. It may be referenced again since.
      const deleted = await write(async ({ store, recorder }) => {
        await store.files.holdForRemoval();
        const now = await store.files.byId(row.id, { forUpdate: true });
        if (!now || (await store.files.isNeeded(now, before))) return undefined;
        await store.files.remove(now);
        recorder.due.at('file-orphans', clock.now() + STRAY_MS); // in case the store fails to remove its bytes
        return now;
      });
      if (deleted && deleted.objectKey !== '') await objects.remove(deleted.objectKey);
      removed += Number(deleted !== undefined);
    }
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE || removed >= AT_ONCE) return removed;
    after = last.id;
  }
}

async function quarantine({ files: { objects }, clock, read, write }: MultiStepContext): Promise<number> {
  const rows = await read(({ store }) => store.files.quarantinedBefore(clock.now() - QUARANTINE_MS, AT_ONCE));
  for (const row of rows) {
    await objects.remove(row.objectKey);
    await write(({ store }) => store.files.update(row, { ...row, objectKey: '', etag: '', updatedAt: clock.now() }));
  }
  return rows.length;
}

/**
 * Removes objects in an area of the tenant, older than a day, that no record knows. This includes uploads to the URL of
 * a file that is already confirmed.
 */
async function removeOrphans(work: MultiStepContext, prefix: string): Promise<number> {
  let removed = 0;
  let batch: ListedObject[] = [];
  for await (const object of work.files.objects.list(prefix)) {
    if (object.modifiedAt < work.clock.now() - STRAY_MS) batch.push(object);
    if (batch.length < AT_ONCE) continue;
    removed += await removeUnknown(work, batch);
    batch = [];
  }
  return removed + (await removeUnknown(work, batch));
}

async function removeUnknown(
  { files: { objects }, read }: MultiStepContext,
  batch: readonly ListedObject[],
): Promise<number> {
  if (batch.length === 0) return 0;
  const idOf = ({ key }: ListedObject): string => key.slice(key.lastIndexOf('/') + 1).split('.')[0] ?? '';
  const keys = await read(({ store }) => store.files.keysOf(batch.map(idOf)));
  const unknown = batch.filter((object) => {
    const key = keys.get(idOf(object));
    return key !== null && key !== object.key;
  });
  for (const { key } of unknown) await objects.remove(key);
  return unknown.length;
}
