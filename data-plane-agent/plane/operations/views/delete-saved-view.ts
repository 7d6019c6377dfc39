import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { OK, Ok } from '../../contract/records/common.js';
import { operation } from '../../steps/operation-context.js';
import { checkTeam } from '../../domain/views/check-team.js';

export const deleteSavedView = operation({
  effect: 'write',
  input: s.object({ viewId: s.id() }),
  output: Ok,
  fails: ['FORBIDDEN'],
  async run({ store }, call, { viewId }) {
    const row = await store.views.find(viewId);
    if (!row) throw fail('NOT_FOUND', {});
    checkTeam(row, call);
    await store.views.remove(row);
    return OK;
  },
});
