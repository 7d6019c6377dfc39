import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import { ConfirmInput, FileRecord } from '../../contract/records/files.js';
import { fileAnswer } from '../../domain/files/answer.js';
import type { FileRow, UploadRow } from '../../domain/files/rows.js';
import { mediaType } from '../../files/content-type.js';
import type { Announced } from '../../files/upload-tokens.js';
import type { Store } from '../../store/store.js';
import { errand, type Work } from '../tools.js';
import { takeIn } from './take-in.js';

/** A confirmation that takes longer has lost the upload to the next. Longer than all deadlines of its steps together. */
const CLAIM_MS = 5 * 60_000;
/** How long a second confirmation waits for the first. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 100;

/**
 * Makes a file of what was uploaded: its size and its first bytes are held against what was announced, it is moved to where no client can write, hashed and
 * scanned. One upload makes one file, however often and by how many at once it is confirmed.
 */
export const confirmFile = errand({
  effect: 'write',
  input: ConfirmInput,
  output: FileRecord,
  fails: ['UPLOAD_TOKEN_MISMATCH', 'UPLOAD_TOKEN_EXPIRED', 'FILE_NOT_UPLOADED', 'FILE_BEING_CONFIRMED', 'FILE_SIZE_MISMATCH', 'FILE_CONTENT_MISMATCH', 'REFERENCE_INVALID', 'OBJECT_STORE_UNAVAILABLE'],
  async perform(work, call, input) {
    const { announced, isExpired } = await readToken(work, call, input);
    const known = await work.read(({ store }) => store.files.byId(announced.fileId));
    if (known) return fileAnswer(known);
    if (isExpired) throw fail('UPLOAD_TOKEN_EXPIRED', {});
    await work.read(({ store }) => checkLinks(store, call, announced));

    const claim = await claimed(work, announced.fileId);
    if ('file' in claim) return fileAnswer(claim.file);
    try {
      return await takeIn(work, call, claim.upload);
    } catch (error) {
      await work.upkeep(({ store }) => store.uploads.release(announced.fileId, claim.upload.claimedUntil));
      throw error;
    }
  },
});

/** Every field must be what the token was given out for; a link or bucket that is left out is the token's. */
async function readToken({ files: { tokens } }: Work, call: Call, input: ConfirmInput): Promise<{ readonly announced: Announced; readonly isExpired: boolean }> {
  const token = await tokens.read(input.uploadToken);
  if (!token || token.announced.tenantId !== call.tenantId || token.announced.userId !== call.actor.id) throw fail('UPLOAD_TOKEN_MISMATCH', { fields: ['uploadToken'] });
  const { announced } = token;
  const given = { ...input, contentType: mediaType(input.contentType) };
  const fields = (['objectKey', 'fileName', 'contentType', 'sizeBytes', 'kind'] as const).filter((field) => given[field] !== announced[field]);
  const links = (['bucket', 'subjectId', 'contractId', 'paymentId'] as const).filter((field) => given[field] !== null && given[field] !== undefined && given[field] !== announced[field]);
  if (fields.length + links.length > 0) throw fail('UPLOAD_TOKEN_MISMATCH', { fields: [...fields, ...links] });
  return token;
}

/** What the file is to hang on may have gone since, or out of the caller's scope. */
async function checkLinks(store: Store, { subjectScope }: Call, { subjectId, contractId, paymentId }: Announced): Promise<void> {
  if (subjectId !== null && !(subjectScope?.includes(subjectId) ?? true)) throw fail('REFERENCE_INVALID', { field: 'subjectId', value: subjectId });
  if (contractId !== null && !(await store.contracts.find(contractId))) throw fail('REFERENCE_INVALID', { field: 'contractId', value: contractId });
  if (paymentId !== null && !(await store.lines.contractOf(paymentId))) throw fail('REFERENCE_INVALID', { field: 'paymentId', value: paymentId });
}

/** The upload for this confirmation alone, or the file that another one has made of it in the meantime. */
async function claimed({ read, upkeep, clock }: Work, id: string): Promise<{ readonly upload: UploadRow } | { readonly file: FileRow }> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const now = clock.now();
    const upload = await upkeep(async ({ store }) => ((await store.uploads.claim(id, now, now + CLAIM_MS)) ? store.uploads.find(id) : undefined));
    if (upload) return { upload };
    const { file, isOpen } = await read(async ({ store }) => ({ file: await store.files.byId(id), isOpen: (await store.uploads.find(id)) !== undefined }));
    if (file) return { file };
    if (!isOpen) throw fail('UPLOAD_TOKEN_EXPIRED', {});
    if (waited >= PATIENCE_MS) throw fail('FILE_BEING_CONFIRMED', {});
    await sleep(LOOK_MS);
  }
}
