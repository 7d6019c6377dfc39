import { s } from '../../../base/schema.js';
import { FILES_AT_ONCE, FileToMove, moveId } from '../../contract/records/moving.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/** The files whose bytes are stored, also those in the quarantine, in the order of their ids; empty at the end. */
export const listFilesToMove = operation({
  effect: 'read',
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), after: s.nullable(s.id()) }),
  output: s.object({ files: s.list(FileToMove, FILES_AT_ONCE) }),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, after }) {
    await inMove(store, id, 'frozen');
    return { files: await store.files.stored(after, FILES_AT_ONCE) };
  },
});
