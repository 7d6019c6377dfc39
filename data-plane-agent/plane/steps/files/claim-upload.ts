import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { FileRow, UploadRow } from '../../tables/files.js';
import type { MultiStepContext } from '../operation-context.js';

/** How long a claim lasts. Its holder renews it earlier; after a crash it expires. */
const CLAIM_MS = 20_000;
const RENEW_MS = 5_000;
/** How long a second confirmation waits for the first. */
const TIMEOUT_MS = 15_000;
const POLL_MS = 100;

/** Exclusive use of an upload. */
export interface Claim {
  readonly upload: UploadRow;
  /** An earlier claim on it expired, and its holder may still be running. */
  readonly tookOver: boolean;
  /** Stops renewing. Returns when the claim expires (milliseconds), which identifies it. */
  settled(): Promise<number>;
  /** Releases the upload for the next attempt. */
  release(): Promise<void>;
}

/** Claims the upload, or returns the file that a concurrent confirmation has made of it. */
export async function claimUpload(work: MultiStepContext, id: string): Promise<Claim | { readonly file: FileRow }> {
  const { read, upkeep, clock, signal } = work;
  for (let waited = 0; ; waited += POLL_MS) {
    const now = clock.now();
    const claimed = await upkeep(async ({ store }) => {
      const before = await store.uploads.find(id);
      return before && (await store.uploads.claim(id, now, now + CLAIM_MS))
        ? { upload: { ...before, claimedUntil: now + CLAIM_MS }, tookOver: before.claimedUntil > 0 }
        : undefined;
    });
    if (claimed) return renewing(work, claimed);
    const { file, isOpen } = await read(async ({ store }) => ({
      file: await store.files.byId(id),
      isOpen: (await store.uploads.find(id)) !== undefined,
    }));
    if (file) return { file };
    if (!isOpen) throw fail('UPLOAD_TOKEN_EXPIRED', {});
    if (waited >= TIMEOUT_MS) throw fail('FILE_BEING_CONFIRMED', { retryAfterSeconds: 5 });
    await sleep(POLL_MS, undefined, { signal });
  }
}

function renewing(
  { upkeep, clock, log }: MultiStepContext,
  { upload, tookOver }: Pick<Claim, 'upload' | 'tookOver'>,
): Claim {
  let until = upload.claimedUntil;
  const over = new AbortController();
  const renewed = (async () => {
    for (;;) {
      await sleep(RENEW_MS, undefined, { signal: over.signal });
      const next = clock.now() + CLAIM_MS;
      const held = await upkeep(({ store }) => store.uploads.renew(upload.id, until, next)).catch((error: unknown) => {
        log.warn({ err: error, fileId: upload.id }, 'claim on an upload not renewed');
        return undefined;
      });
      // Another claim has taken over: this one learns of it when it finishes the upload.
      if (held === false) return;
      if (held) until = next;
    }
  })().catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
  const settled = async (): Promise<number> => {
    over.abort();
    await renewed;
    return until;
  };
  return {
    upload,
    tookOver,
    settled,
    async release() {
      const held = await settled();
      // The earlier holder may still be running.
      await upkeep(({ store }) => store.uploads.release(upload.id, held, { isClean: !tookOver }));
    },
  };
}
