import { s } from '../../../base/schema.js';
import { longText, moveId, position, rowKey, tableName } from '../../contract/records/moving.js';
import { columnOf, keyOf, tableOf } from '../../steps/moving/rows.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/** Appends a piece of a long text to a row, whose text must have `from` characters before. */
export const receiveLongText = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({
    moveId: moveId(),
    table: tableName(),
    key: rowKey(),
    column: s.text({ max: 64 }),
    from: position(),
    text: longText(),
  }),
  output: s.object({}),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, table: name, key, column, from, text }) {
    await inMove(store, id, 'receiving');
    const table = tableOf(name);
    await store.movedRows.append(table, { key: keyOf(table, key), column: columnOf(table, column), from, text });
    return {};
  },
});
