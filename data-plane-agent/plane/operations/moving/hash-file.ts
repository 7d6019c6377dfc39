import { s } from '../../../base/schema.js';
import { moveId, StoredBytes } from '../../contract/records/moving.js';
import { movedFile, storedBytes } from '../../steps/moving/file-bytes.js';
import { inMove } from '../../steps/moving/the-move.js';
import { multiStepOperation } from '../../steps/operation-context.js';

/** The size and the hash of the bytes of a file as they are in the object store, which are read in full. */
export const hashFile = multiStepOperation({
  effect: 'read',
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), fileId: s.id() }),
  output: StoredBytes,
  fails: ['DATA_MOVE_REFUSED', 'OBJECT_STORE_UNAVAILABLE'],
  async perform({ read, files: { objects } }, _call, { moveId: id, fileId }) {
    await read(({ store }) => inMove(store, id, 'frozen', 'receiving'));
    return storedBytes(objects, (await movedFile({ read }, fileId)).objectKey);
  },
});
