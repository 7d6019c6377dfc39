import { s } from '../../../base/schema.js';
import { moveId } from '../../contract/records/moving.js';
import { removedFiles, removedRows } from '../../steps/moving/removal.js';
import { inMove } from '../../steps/moving/the-move.js';
import { multiStepOperation } from '../../steps/operation-context.js';

/**
 * Removes a batch of the tenant's data: after a complete move where it came from, or where it was going to when the
 * move is cancelled. Files are removed first, and then rows, those that others refer to last.
 */
export const removeMovedData = multiStepOperation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId() }),
  output: s.object({ files: s.integer(), rows: s.integer(), more: s.flag() }),
  fails: ['DATA_MOVE_REFUSED', 'OBJECT_STORE_UNAVAILABLE'],
  async perform(work, call, { moveId: id }) {
    await work.read(({ store }) => inMove(store, id, 'moved', 'receiving'));
    const files = await removedFiles(work, call, id);
    if (files > 0) return { files, rows: 0, more: true };
    const rows = await removedRows(work, id);
    return { files, rows, more: rows > 0 };
  },
});
