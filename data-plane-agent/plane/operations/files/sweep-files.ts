import { s } from '../../../base/schema.js';
import { iso } from '../../../base/instants.js';
import type { Call } from '../../contract/call.js';
import { RESTORABLE_MS } from '../../domain/contracts/trash.js';
import { QUARANTINE_MS, RESTORE_MARGIN_MS, STRAY_MS } from '../../domain/files/strays.js';
import { fileKey, quarantineKey, uploadKey, type ListedObject } from '../../files/objects/object-store.js';
import { multiStepOperation, type MultiStepContext } from '../../steps/operation-context.js';
import { moveToQuarantine } from '../../steps/files/record-scan.js';

/** So long an upload is held while it is removed. */
const REMOVING_MS = 60_000;
/** Records of one call, and objects that are looked up together. */
const AT_ONCE = 100;
/** Before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Moves to the quarantine what the store did not let be moved when it was found, and removes what nobody will ask for:
 * uploads that were not confirmed within a day, files of contracts that can no longer be brought back unless another
 * refers to them, what has been in quarantine for thirty days, and objects that belong to nothing, which broken-off
 * steps leave.
 */
export const sweepFiles = multiStepOperation({
  effect: 'write',
  input: s.object({ orphans: s.flag('Walks all objects of the tenant too, to find those that belong to nothing.') }),
  output: s.object({ removed: s.integer(), more: s.flag() }),
  fails: ['OBJECT_STORE_UNAVAILABLE'],
  async perform(work, call, { orphans }) {
    const steps = [
      await unmoved(work, call),
      await unconfirmed(work, call),
      await outlived(work),
      await quarantine(work),
    ];
    let removed = steps.reduce((sum, n) => sum + n, 0);
    for (const area of orphans ? ['uploads', 'tenants', 'quarantine'] : ['uploads'])
      removed += await strays(work, `${area}/${call.tenantId}/`);
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
    // Whoever confirms it just now, because clocks went wrong, has it first.
    if (!(await upkeep(({ store }) => store.uploads.claim(id, now, now + REMOVING_MS)))) continue;
    removed += 1;
    // Where a confirmation broke off there may be copies.
    const isFile = await read(async ({ store }) => (await store.files.byId(id)) !== undefined);
    const copies = isFile ? [] : [fileKey(tenantId, id, iso(createdAt)), quarantineKey(tenantId, id)];
    for (const key of [...copies, uploadKey(tenantId, id)]) await objects.remove(key);
    await upkeep(({ store }) => store.uploads.remove(id));
  }
  return removed;
}

/** Page by page, so that files that are needed elsewhere, and stay, stand in nobody's way. */
async function outlived({ files: { objects }, clock, read, write }: MultiStepContext): Promise<number> {
  const before = clock.now() - RESTORABLE_MS - RESTORE_MARGIN_MS;
  let removed = 0;
  let after = FIRST;
  for (;;) {
    const rows = await read(({ store }) => store.files.ofDeleted({ before, after, limit: AT_ONCE }));
    for (const row of rows) {
      // The record first: one without bytes would promise what is not there. Somebody may have come to refer to it
      // since.
      const gone = await write(async ({ store, recorder }) => {
        await store.files.holdForRemoval();
        const now = await store.files.byId(row.id, { forUpdate: true });
        if (!now || (await store.files.isNeeded(now, before))) return undefined;
        await store.files.remove(now);
        recorder.due.at('file-orphans', clock.now() + STRAY_MS); // should the store not let its bytes go
        return now;
      });
      if (gone && gone.objectKey !== '') await objects.remove(gone.objectKey);
      removed += Number(gone !== undefined);
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
 * Objects in an area of the tenant's own, older than a day, of which no record knows. What was put to the URL of an
 * upload that is a file already is one of them.
 */
async function strays(work: MultiStepContext, prefix: string): Promise<number> {
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
