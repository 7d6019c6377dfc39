import { s } from '../../../base/schema.js';
import { longText, moveId, position, rowKey, tableName } from '../../contract/records/moving.js';
import { columnOf, keyOf, tableOf } from '../../steps/moving/rows.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/** A piece of a text of a row that was cut in its page, from a character on. */
export const readLongText = operation({
  effect: 'read',
  whileMoving: 'always',
  input: s.object({
    moveId: moveId(),
    table: tableName(),
    key: rowKey(),
    column: s.text({ max: 64 }),
    from: position(),
  }),
  output: s.object({ text: longText(), next: s.nullable(position()) }),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, table: name, key, column, from }) {
    await inMove(store, id, 'frozen');
    const table = tableOf(name);
    return store.movedRows.piece(table, { key: keyOf(table, key), column: columnOf(table, column), from });
  },
});
