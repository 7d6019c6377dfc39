import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { FileRow, UploadRow } from '../../tables/files.js';
import type { MultiStepContext } from '../operation-context.js';

/**
 * So long an upload is held at a time. Who still has it says so again sooner; when his process has ended, the next has
 * it after that.
 */
const CLAIM_MS = 20_000;
const AGAIN_MS = 5_000;
/** How long a second confirmation waits for the first. */
const TIMEOUT_MS = 15_000;
const LOOK_MS = 100;

/** An upload that nobody else confirms meanwhile. */
export interface Claim {
  readonly upload: UploadRow;
  /** Somebody had it before, and nobody knows whether he still does something with it. */
  readonly tookOver: boolean;
  /** From now on it is not renewed; until when it is held, which no other claim shares. */
  settled(): Promise<number>;
  /** Gives the upload back, for the next to try. */
  release(): Promise<void>;
}

/** The upload for this confirmation alone, or the file that another one has made of it in the meantime. */
export async function claimUpload(work: MultiStepContext, id: string): Promise<Claim | { readonly file: FileRow }> {
  const { read, upkeep, clock, signal } = work;
  for (let waited = 0; ; waited += LOOK_MS) {
    const now = clock.now();
    const mine = await upkeep(async ({ store }) => {
      const before = await store.uploads.find(id);
      return before && (await store.uploads.claim(id, now, now + CLAIM_MS))
        ? { upload: { ...before, claimedUntil: now + CLAIM_MS }, tookOver: before.claimedUntil > 0 }
        : undefined;
    });
    if (mine) return renewing(work, mine);
    const { file, isOpen } = await read(async ({ store }) => ({
      file: await store.files.byId(id),
      isOpen: (await store.uploads.find(id)) !== undefined,
    }));
    if (file) return { file };
    if (!isOpen) throw fail('UPLOAD_TOKEN_EXPIRED', {});
    if (waited >= TIMEOUT_MS) throw fail('FILE_BEING_CONFIRMED', { retryAfterSeconds: 5 });
    await sleep(LOOK_MS, undefined, { signal });
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
      await sleep(AGAIN_MS, undefined, { signal: over.signal });
      const next = clock.now() + CLAIM_MS;
      const held = await upkeep(({ store }) => store.uploads.renew(upload.id, until, next)).catch((error: unknown) => {
        log.warn({ err: error, fileId: upload.id }, 'the claim on an upload was not renewed this time');
        return undefined;
      });
      // Once it is another's it stays that: who had it learns of it when he is to end it.
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
      // Whom it was taken over from may not have ended yet.
      await upkeep(({ store }) => store.uploads.release(upload.id, held, { isClean: !tookOver }));
    },
  };
}
