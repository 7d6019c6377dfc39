import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import { ConfirmInput, FileRecord } from '../../contract/records/files.js';
import { fileAnswer } from '../../domain/files/answer.js';
import { mediaType } from '../../files/content/content-type.js';
import type { Announced } from '../../files/upload-tokens.js';
import type { Store } from '../../store/store.js';
import { multiStepOperation, type MultiStepContext } from '../../steps/operation-context.js';
import { claimUpload } from '../../steps/files/claim-upload.js';
import { ingestUpload } from '../../steps/files/ingest-upload.js';

/**
 * Creates the file of an upload: checks its size and content against the presign request, moves it to a key that
 * clients cannot write to, hashes and scans it. Repeated and concurrent confirmations return the same file.
 */
export const confirmFile = multiStepOperation({
  effect: 'write',
  input: ConfirmInput,
  output: FileRecord,
  fails: [
    'UPLOAD_TOKEN_MISMATCH',
    'UPLOAD_TOKEN_EXPIRED',
    'FILE_NOT_UPLOADED',
    'FILE_BEING_CONFIRMED',
    'FILE_SIZE_MISMATCH',
    'FILE_CONTENT_MISMATCH',
    'REFERENCE_INVALID',
    'OBJECT_STORE_UNAVAILABLE',
  ],
  async perform(work, call, input) {
    const { announced, isExpired } = await readToken(work, call, input);
    const known = await work.read(({ store }) => store.files.byId(announced.fileId));
    if (known) return fileAnswer(known);
    if (isExpired) throw fail('UPLOAD_TOKEN_EXPIRED', {});
    await work.read(({ store }) => checkLinks(store, call, announced));

    const claim = await claimUpload(work, announced.fileId);
    if ('file' in claim) return fileAnswer(claim.file);
    try {
      return await ingestUpload(work, call, claim);
    } catch (error) {
      await claim.release();
      throw error;
    }
  },
});

/** Every field must match the upload token; an omitted link or bucket is taken from it. */
async function readToken(
  { files: { tokens } }: MultiStepContext,
  call: Call,
  input: ConfirmInput,
): Promise<{ readonly announced: Announced; readonly isExpired: boolean }> {
  const token = await tokens.read(input.uploadToken);
  if (!token || token.announced.tenantId !== call.tenantId || token.announced.userId !== call.actor.id)
    throw fail('UPLOAD_TOKEN_MISMATCH', { fields: ['uploadToken'] });
  const { announced } = token;
  const given = { ...input, contentType: mediaType(input.contentType) };
  const fields = (['objectKey', 'fileName', 'contentType', 'sizeBytes', 'kind'] as const).filter(
    (field) => given[field] !== announced[field],
  );
  const links = (['bucket', 'subjectId', 'contractId', 'paymentId'] as const).filter(
    (field) => given[field] !== null && given[field] !== undefined && given[field] !== announced[field],
  );
  if (fields.length + links.length > 0) throw fail('UPLOAD_TOKEN_MISMATCH', { fields: [...fields, ...links] });
  return token;
}

/** The linked records may have been deleted since, or left the caller's scope. */
async function checkLinks(
  store: Store,
  { subjectScope }: Call,
  { subjectId, contractId, paymentId }: Announced,
): Promise<void> {
  if (subjectId !== null && (!(subjectScope?.includes(subjectId) ?? true) || !(await store.closings.isOpen(subjectId))))
    throw fail('REFERENCE_INVALID', { field: 'subjectId', value: subjectId });
  if (contractId !== null && !(await store.contracts.find(contractId)))
    throw fail('REFERENCE_INVALID', { field: 'contractId', value: contractId });
  if (paymentId !== null && !(await store.lines.contractOf(paymentId)))
    throw fail('REFERENCE_INVALID', { field: 'paymentId', value: paymentId });
}
