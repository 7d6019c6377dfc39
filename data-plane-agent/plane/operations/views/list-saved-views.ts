import { s } from '../../../base/schema.js';
import { SavedViewList } from '../../contract/records/views.js';
import { viewAnswer } from '../../domain/views/views.js';
import { operation } from '../../steps/operation-context.js';
import { seenFields } from '../../steps/views/seen-fields.js';

/** The caller's personal views and the team views. */
export const listSavedViews = operation({
  effect: 'read',
  input: s.object({}),
  output: SavedViewList,
  fails: [],
  async run(context) {
    const rows = await context.store.views.seen();
    const fields = await seenFields(context, rows);
    return rows.map((row) => viewAnswer(row, fields));
  },
});
