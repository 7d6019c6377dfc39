import { s } from '../../../base/schema.js';
import { moveId } from '../../contract/records/moving.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/** Ends a move from this data plane: the tenant's data stays here until it is deleted, and is neither read nor changed. */
export const finishMovingOut = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId() }),
  output: s.object({}),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id }) {
    await inMove(store, id, 'frozen', 'moved');
    await store.dataMoves.set({ moveId: id, state: 'moved' });
    return {};
  },
});
