import { fail, invalid } from '../../../base/failures.js';
import { MAX_VIEWS, SavedView, SavedViewInput } from '../../contract/records/views.js';
import { newView, viewAnswer, viewIssues } from '../../domain/views/views.js';
import { operation } from '../../steps/operation-context.js';
import { checkTeam } from '../../domain/views/check-team.js';
import { seenFields } from '../../steps/views/seen-fields.js';

/** Creates a personal view or, as an administrator, a team view. */
export const createSavedView = operation({
  effect: 'write',
  input: SavedViewInput,
  output: SavedView,
  fails: ['FORBIDDEN', 'DUPLICATE_CODE', 'LIMIT_REACHED'],
  async run(context, call, input) {
    const { views } = context.store;
    const row = newView(input, { id: context.newId(), actorId: call.actor.id, now: context.clock.now() });
    checkTeam(row, call);
    const issues = viewIssues(input);
    if (issues.length > 0) throw invalid(...issues);
    if (await views.isTaken(row)) throw fail('DUPLICATE_CODE', { field: 'name', value: row.name });
    if ((await views.count(row.scope, row.scope === 'team' ? null : row.ownerId)) >= MAX_VIEWS)
      throw fail('LIMIT_REACHED', { limit: MAX_VIEWS });
    await views.insert(row);
    return viewAnswer(row, await seenFields(context, [row]));
  },
});
