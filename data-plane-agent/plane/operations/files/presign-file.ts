import { fail, invalid } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import { PresignedUpload, PresignInput } from '../../contract/records/files.js';
import { iso } from '../../../base/instants.js';
import { UPLOAD_GOOD_MS } from '../../domain/files/strays.js';
import type { UploadRow } from '../../tables/files.js';
import { mediaType } from '../../files/content/content-type.js';
import { endOfLink, uploadKey } from '../../files/objects/object-store.js';
import type { FilePolicy } from '../../files/services.js';
import { multiStepOperation, type OperationContext } from '../../steps/operation-context.js';

/** The maximum of unconfirmed uploads per tenant at a time. */
const MAX_OPEN = 200;

/**
 * Registers an upload and returns a signed URL for exactly these bytes. Confirming it creates a file of this kind with
 * these links.
 */
export const presignFile = multiStepOperation({
  effect: 'write',
  // The upload itself is no contract data; the file is audited when it is confirmed.
  isUpkeep: true,
  input: PresignInput,
  output: PresignedUpload,
  fails: [
    'FILE_TYPE_NOT_ALLOWED',
    'FILE_TOO_LARGE',
    'REFERENCE_INVALID',
    'STORAGE_QUOTA_EXCEEDED',
    'RATE_LIMITED',
    'OBJECT_STORE_UNAVAILABLE',
  ],
  async perform({ files: { objects, tokens, policy }, clock, newId, read, conclude }, call, input) {
    const contentType = mediaType(input.contentType);
    checkPolicy(policy, { contentType, sizeBytes: input.sizeBytes });
    const links = await read((context) => linksOf(context, call, input));

    const id = newId();
    const now = clock.now();
    const expiresAt = endOfLink(now, UPLOAD_GOOD_MS);
    const key = uploadKey(call.tenantId, id);
    await objects.head(key); // reports an unavailable store before the client uploads
    const { fileName, sizeBytes, kind } = input;
    const upload = await objects.uploadUrl({ key, contentType, sizeBytes, expiresAt });
    const announced = {
      tenantId: call.tenantId,
      userId: call.actor.id,
      fileId: id,
      bucket: objects.bucket,
      objectKey: key,
      fileName,
      contentType,
      sizeBytes,
      kind,
      ...links,
    };
    const uploadToken = await tokens.issue(announced, expiresAt);

    return conclude(async ({ store }) => {
      await store.uploads.hold();
      await checkRoom(store, policy, { sizeBytes, now });
      const row: UploadRow = {
        id,
        fileName,
        contentType,
        sizeBytes,
        kind,
        ...links,
        uploadedBy: call.actor.id,
        createdAt: now,
        expiresAt,
        claimedUntil: 0,
      };
      await store.uploads.insert(row);
      return {
        fileId: id,
        uploadUrl: upload.url,
        method: 'PUT' as const,
        headers: { ...upload.headers },
        bucket: objects.bucket,
        objectKey: key,
        uploadToken,
        expiresAt: iso(expiresAt),
      };
    });
  },
});

function checkPolicy(
  { contentTypes, maxBytes }: FilePolicy,
  { contentType, sizeBytes }: { readonly contentType: string; readonly sizeBytes: number },
): void {
  if (!contentTypes.has(contentType)) throw fail('FILE_TYPE_NOT_ALLOWED', { contentType, allowed: [...contentTypes] });
  if (sizeBytes > maxBytes) throw fail('FILE_TOO_LARGE', { sizeBytes, maxBytes });
}

async function checkRoom(
  { files, uploads }: OperationContext['store'],
  { tenantQuotaBytes }: FilePolicy,
  { sizeBytes, now }: { readonly sizeBytes: number; readonly now: number },
): Promise<void> {
  const open = await uploads.open(now);
  if (open.count >= MAX_OPEN)
    throw fail('RATE_LIMITED', { retryAfterSeconds: Math.ceil((open.firstEndsAt - now) / 1000) });
  if (tenantQuotaBytes === undefined) return;
  const usedBytes = await files.usedBytes();
  if (usedBytes + sizeBytes > tenantQuotaBytes)
    throw fail('STORAGE_QUOTA_EXCEEDED', { usedBytes, quotaBytes: tenantQuotaBytes });
}

/**
 * The records that the file is linked to. They must be visible to the caller and consistent; the contract determines
 * the subject company.
 */
async function linksOf(
  { store }: OperationContext,
  call: Call,
  input: Pick<PresignInput, 'subjectId' | 'contractId' | 'paymentId'>,
): Promise<Pick<UploadRow, 'subjectId' | 'contractId' | 'paymentId'>> {
  const { subjectId, contractId, paymentId } = {
    subjectId: input.subjectId ?? null,
    contractId: input.contractId ?? null,
    paymentId: input.paymentId ?? null,
  };
  const find = async (id: string | null | undefined) =>
    id === null || id === undefined ? undefined : store.contracts.find(id);
  const ofLine = paymentId === null ? undefined : await find(await store.lines.contractOf(paymentId));
  if (paymentId !== null && !ofLine) throw fail('REFERENCE_INVALID', { field: 'paymentId', value: paymentId });
  const contract = contractId === null ? ofLine : await find(contractId);
  if (contractId !== null && !contract) throw fail('REFERENCE_INVALID', { field: 'contractId', value: contractId });
  if (ofLine && contract && ofLine.id !== contract.id)
    throw invalid({ path: 'paymentId', problem: 'must be a payment line of the contract that contractId names' });
  if (!contract) {
    if (
      subjectId !== null &&
      (!(call.subjectScope?.includes(subjectId) ?? true) || !(await store.closings.isOpen(subjectId)))
    )
      throw fail('REFERENCE_INVALID', { field: 'subjectId', value: subjectId });
    return { subjectId, contractId: null, paymentId: null };
  }
  if (subjectId !== null && subjectId !== contract.subjectId)
    throw invalid({ path: 'subjectId', problem: 'must be the subject company of the contract' });
  return { subjectId: contract.subjectId, contractId: contract.id, paymentId };
}
