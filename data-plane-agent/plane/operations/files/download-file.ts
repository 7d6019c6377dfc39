import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { Download, DownloadQuery } from '../../contract/records/files.js';
import { iso } from '../../../base/instants.js';
import { endOfLink } from '../../files/objects/object-store.js';
import { checkScan } from '../../steps/files/check-scan.js';
import { multiStepOperation } from '../../steps/operation-context.js';

/** How long the URL is valid. */
const URL_TTL_MS = 60_000;

/** Returns a URL for one download and records the caller in the audit. */
export const downloadFile = multiStepOperation({
  effect: 'write',
  input: s.object({ fileId: s.id(), ...DownloadQuery.properties }),
  output: Download,
  fails: ['FILE_INFECTED', 'FILE_SCAN_PENDING', 'FILE_BYTES_LOST', 'OBJECT_STORE_UNAVAILABLE'],
  async perform({ files: { objects, policy }, clock, read, conclude }, _call, { fileId, contractId, paymentId }) {
    const row = await read(({ store }) => store.files.find(fileId, { contractId, paymentId }));
    if (!row) throw fail('NOT_FOUND', {});
    checkScan(row, policy);
    const object = await objects.head(row.objectKey);
    // Only the scanned bytes may be downloaded.
    if (object?.etag !== row.etag) throw fail('FILE_BYTES_LOST', {});
    const { fileName, contentType, sizeBytes, scanStatus } = row;
    const expiresAt = endOfLink(clock.now(), URL_TTL_MS);
    const url = await objects.downloadUrl({ key: row.objectKey, fileName, contentType, expiresAt });
    return conclude(async ({ store }) => {
      // A scan may have found malware since.
      const now = await store.files.byId(fileId);
      if (!now) throw fail('NOT_FOUND', {});
      checkScan(now, policy);
      store.files.noted(row, { downloaded: fileName, scanStatus });
      return { url, expiresAt: iso(expiresAt), fileName, contentType, sizeBytes, scanStatus };
    });
  },
});
