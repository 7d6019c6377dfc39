import { s } from '../../../base/schema.js';
import { hash, moveId, position, rowKey, tableName } from '../../contract/records/moving.js';
import { keyOf, tableOf } from '../../steps/moving/rows.js';
import { inMove } from '../../steps/moving/the-move.js';
import { operation } from '../../steps/operation-context.js';
import { beginningOfDigest } from '../../domain/moving/row-digest.js';

/**
 * The number of rows of a table, and a hash over all their values in the order of their keys: of a page after the rows
 * that an earlier call ended with. Equal at two data planes if the tenant's rows are. `after` is `null` at the end.
 */
export const digestRows = operation({
  effect: 'read',
  whileMoving: 'always',
  input: s.object({
    moveId: moveId(),
    table: tableName(),
    from: s.nullable(s.object({ rows: position(), hash: hash(), after: rowKey() })),
  }),
  output: s.object({ rows: position(), hash: hash(), after: s.nullable(rowKey()) }),
  fails: ['DATA_MOVE_REFUSED'],
  async run({ store }, _call, { moveId: id, table: name, from }) {
    await inMove(store, id, 'frozen', 'receiving');
    const table = tableOf(name);
    const digest = await store.movedRows.digest(
      table,
      from === null
        ? { ...beginningOfDigest(name), after: null }
        : { rows: from.rows, hash: from.hash, after: keyOf(table, from.after) },
    );
    return { ...digest, after: digest.after && JSON.stringify(digest.after) };
  },
});
