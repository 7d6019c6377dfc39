import { s } from '../../../base/schema.js';
import { moveId } from '../../contract/records/moving.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/** Ends a move to this data plane: the tenant's data is complete here, and used from now on. */
export const finishReceiving = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId() }),
  output: s.object({}),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id }) {
    if ((await inMove(store, id, 'receiving', 'arrived')) === 'arrived') return {};
    await store.dataMoves.set({ moveId: id, state: 'arrived' });
    await store.movedRows.forgetTotals();
    await store.dueWork.look();
    return {};
  },
});
