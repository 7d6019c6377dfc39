import { s } from '../../../base/schema.js';
import { moveId, rowList, tableName } from '../../contract/records/moving.js';
import { rowsOf, tableOf } from '../../steps/moving/rows.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Writes a page of rows as `readRowsToMove` returned it. Rows that are there already are replaced, so that it may be
 * repeated. Values are sealed with the keys of this data plane, and contracts are indexed for the search.
 */
export const receiveRows = operation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({ moveId: moveId(), table: tableName(), rows: rowList() }),
  output: s.object({ count: s.integer() }),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, table: name, rows: text }) {
    await inMove(store, id, 'receiving');
    const table = tableOf(name);
    const rows = rowsOf(table, text);
    if (rows.length > 0) await store.movedRows.put(table, rows);
    return { count: rows.length };
  },
});
