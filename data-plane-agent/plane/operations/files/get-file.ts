import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { FileRecord } from '../../contract/records/files.js';
import { fileAnswer } from '../../domain/files/answer.js';
import { operation } from '../../steps/operation-context.js';

export const getFile = operation({
  effect: 'read',
  input: s.object({ fileId: s.id() }),
  output: FileRecord,
  fails: [],
  async run({ store }, _call, { fileId }) {
    const row = await store.files.find(fileId);
    if (!row) throw fail('NOT_FOUND', {});
    return fileAnswer(row);
  },
});
