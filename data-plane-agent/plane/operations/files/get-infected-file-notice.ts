import { s } from '../../../base/schema.js';
import { InfectedFileNotice } from '../../contract/records/notices.js';
import { operation } from '../../steps/operation-context.js';

/** An infected file, as a message announces it; `null` if it was removed, or a later scan found it clean. */
export const getInfectedFileNotice = operation({
  effect: 'read',
  input: s.object({ fileId: s.id() }),
  output: s.object({ notice: s.nullable(InfectedFileNotice) }),
  fails: [],
  async run({ store }, _call, { fileId }) {
    const file = await store.files.byId(fileId);
    if (file?.scanStatus !== 'infected') return { notice: null };
    const { fileName, contractId, scanSignature, scannedAt, updatedAt, uploadedBy } = file;
    const contract = contractId === null ? undefined : await store.contracts.find(contractId);
    return {
      notice: {
        fileName,
        contractId: contract?.id ?? null,
        contractNo: contract?.contractNo ?? null,
        signature: scanSignature ?? '',
        at: scannedAt ?? updatedAt,
        uploadedBy,
      },
    };
  },
});
