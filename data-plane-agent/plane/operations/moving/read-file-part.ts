import { buffer } from 'node:stream/consumers';
import { s } from '../../../base/schema.js';
import { FILE_PART_BYTES, MOST_PARTS, moveId } from '../../contract/records/moving.js';
import { timeoutFor } from '../../files/objects/deadline.js';
import { movedFile } from '../../steps/moving/file-bytes.js';
import { inMove } from '../../steps/moving/the-move.js';
import { multiStepOperation } from '../../steps/operation-context.js';

/** A part of the bytes of a file, in base64; `null` if the object store has none of it. */
export const readFilePart = multiStepOperation({
  effect: 'read',
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), fileId: s.id(), part: s.integer({ max: MOST_PARTS - 1 }) }),
  output: s.object({
    base64: s.nullable(s.verbatim({ min: 0, max: Math.ceil(FILE_PART_BYTES / 3) * 4 })),
    isLast: s.flag(),
  }),
  fails: ['DATA_MOVE_REFUSED', 'OBJECT_STORE_UNAVAILABLE'],
  async perform({ read, files: { objects } }, _call, { moveId: id, fileId, part }) {
    await read(({ store }) => inMove(store, id, 'frozen'));
    const { objectKey } = await movedFile({ read }, fileId);
    const about = await objects.head(objectKey);
    if (!about) return { base64: null, isLast: true };
    const { sizeBytes } = about;
    const start = Math.min(part * FILE_PART_BYTES, sizeBytes);
    const end = Math.min(start + FILE_PART_BYTES, sizeBytes);
    const isLast = end === sizeBytes;
    if (start === end) return { base64: '', isLast };
    const content = await objects.read(objectKey, {
      sizeBytes,
      part: { start, end },
      signal: AbortSignal.timeout(Math.ceil(timeoutFor(end - start))),
    });
    return content ? { base64: (await buffer(content)).toString('base64'), isLast } : { base64: null, isLast: true };
  },
});
