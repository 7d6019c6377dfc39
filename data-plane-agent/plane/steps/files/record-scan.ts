import { scanned, type Finding } from '../../domain/files/scans.js';
import type { FileRow } from '../../tables/files.js';
import { quarantineKey } from '../../files/objects/object-store.js';
import type { Call } from '../../contract/call.js';
import type { OperationContext, MultiStepContext } from '../operation-context.js';

/** How long a scan may take before it is started again. Longer than the scanner's timeout for the largest file. */
export const SCAN_LEASE_MS = 10 * 60_000;

/** Writes the result of a scan. An infected file can no longer be downloaded, even if the store fails to move it. */
export async function recordScan(
  work: MultiStepContext,
  call: Call,
  {
    row,
    finding,
    signatures,
  }: { readonly row: FileRow; readonly finding: Finding; readonly signatures: string | null },
): Promise<void> {
  const isInfected = await work.write(async (context) => {
    const now = await context.store.files.byId(row.id, { forUpdate: true });
    // The lease expired and another scan has taken over.
    if (!now || now.etag !== row.etag || now.scanStatus === 'infected') return false;
    const after = {
      ...now,
      ...scanned(now, finding, { now: work.clock.now(), signatures }),
      updatedAt: work.clock.now(),
    };
    await context.store.files.update(now, after);
    if (finding.status === 'infected') enqueueInfected(context, after);
    return finding.status === 'infected';
  });
  if (isInfected) await moveToQuarantine(work, call, row);
}

/** Moves the bytes of an infected file to the quarantine. If the store fails, the sweep tries again. */
export async function moveToQuarantine(work: MultiStepContext, call: Call, row: FileRow): Promise<void> {
  const moved = await quarantined(work, call, row);
  await work.write(async ({ store, clock }) => {
    const now = await store.files.byId(row.id, { forUpdate: true });
    if (now?.scanStatus === 'infected' && now.objectKey === row.objectKey)
      await store.files.update(now, { ...now, ...moved, updatedAt: clock.now() });
  });
  await work.files.objects.remove(row.objectKey);
}

/** Copies the bytes to the quarantine. Returns an empty key if the store no longer has them. */
export async function quarantined(
  { files: { objects } }: MultiStepContext,
  { tenantId }: Call,
  { id, objectKey, etag }: Pick<FileRow, 'id' | 'objectKey' | 'etag'>,
): Promise<Pick<FileRow, 'objectKey' | 'etag'>> {
  const copy = await objects.copy(objectKey, quarantineKey(tenantId, id), etag);
  return copy ? { objectKey: copy.key, etag: copy.etag } : { objectKey: '', etag: '' };
}

/** Enqueues the notification of the uploader and of the tenant's default channel. */
export function enqueueInfected({ recorder }: OperationContext, { id }: FileRow): void {
  recorder.enqueue({ topic: 'file.infected', lane: 'file.infected', reference: { fileId: id } });
}
