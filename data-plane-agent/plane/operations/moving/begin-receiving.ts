import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { hash, moveId } from '../../contract/records/moving.js';
import { inMove, sameTables } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';
import { MOVED } from '../../tables/moved.js';

/**
 * Begins a move to this data plane, which must have no data of the tenant: from now on it refuses all other operations
 * of the tenant until the move is complete. Repeating it for the same move has no effect.
 */
export const beginReceiving = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), tables: hash() }),
  output: s.object({}),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, tables }) {
    sameTables(tables);
    const before = await store.dataMoves.find();
    if (before?.moveId === id) {
      await inMove(store, id, 'receiving', 'arrived');
      return {};
    }
    if (before?.state === 'draining' || before?.state === 'frozen' || before?.state === 'receiving')
      throw fail('DATA_MOVE_REFUSED', { reason: 'other_move' });
    for (const table of MOVED)
      if (!(await store.movedRows.isEmpty(table)))
        throw fail('DATA_MOVE_REFUSED', { reason: 'not_empty', table: table.name });
    await store.dataMoves.set({ moveId: id, state: 'receiving' });
    return {};
  },
});
