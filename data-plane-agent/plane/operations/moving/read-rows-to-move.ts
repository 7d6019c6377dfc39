import { s } from '../../../base/schema.js';
import { CutText, moveId, rowKey, rowList, tableName } from '../../contract/records/moving.js';
import { keyOf, tableOf } from '../../steps/moving/rows.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/**
 * A page of the rows of a table, with all their columns, in the order of their keys. Sealed values are opened. Of a row
 * that is larger than a page, long texts are cut; `readLongText` has the rest. `after` is `null` after the last page.
 */
export const readRowsToMove = operation({
  effect: 'read',
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), table: tableName(), after: s.nullable(rowKey()) }),
  output: s.object({ count: s.integer(), rows: rowList(), cut: s.list(CutText, 100), after: s.nullable(rowKey()) }),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, table: name, after }) {
    await inMove(store, id, 'frozen');
    const table = tableOf(name);
    const page = await store.movedRows.page(table, after === null ? null : keyOf(table, after));
    return {
      count: page.rows.length,
      rows: JSON.stringify(page.rows),
      cut: [...page.cut],
      after: page.after && JSON.stringify(page.after),
    };
  },
});
