import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { moveId } from '../../contract/records/moving.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';
import { MOVED } from '../../tables/moved.js';

/**
 * Ends a move that is not complete. Where the data comes from, it can be changed again. Where it was going to, what has
 * arrived must have been removed before.
 */
export const cancelMove = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId() }),
  output: s.object({}),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id }) {
    if ((await store.dataMoves.find()) === undefined) return {};
    const state = await inMove(store, id, 'draining', 'frozen', 'receiving');
    if (state === 'receiving') {
      for (const table of MOVED)
        if (!(await store.movedRows.isEmpty(table)))
          throw fail('DATA_MOVE_REFUSED', { reason: 'not_empty', table: table.name });
    } else await store.dueWork.look();
    await store.dataMoves.forget();
    return {};
  },
});
