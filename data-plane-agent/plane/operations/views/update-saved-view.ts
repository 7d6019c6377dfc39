import { fail, invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { MAX_VIEWS, SavedView, SavedViewPatch } from '../../contract/records/views.js';
import { isSameView, patchedView, viewAnswer, viewIssues } from '../../domain/views/views.js';
import { operation } from '../../steps/operation-context.js';
import { checkTeam } from '../../domain/views/check-team.js';
import { seenFields } from '../../steps/views/seen-fields.js';

/** Updates the given fields of a view. A request without effect writes nothing. */
export const updateSavedView = operation({
  effect: 'write',
  input: s.object({ viewId: s.id(), changes: SavedViewPatch }),
  output: SavedView,
  fails: ['FORBIDDEN', 'DUPLICATE_CODE', 'LIMIT_REACHED'],
  async run(context, call, { viewId, changes }) {
    const { views } = context.store;
    const issues = viewIssues(changes);
    if (issues.length > 0) throw invalid(...issues);
    const before = await views.find(viewId);
    if (!before) throw fail('NOT_FOUND', {});
    const after = patchedView(before, changes, { actorId: call.actor.id, now: context.clock.now() });
    checkTeam(before, call);
    checkTeam(after, call);
    if (isSameView(before, after)) return viewAnswer(before, await seenFields(context, [before]));
    if (await views.isTaken(after, before.id)) throw fail('DUPLICATE_CODE', { field: 'name', value: after.name });
    const changesScope = after.scope !== before.scope;
    if (changesScope && (await views.count(after.scope, after.scope === 'team' ? null : after.ownerId)) >= MAX_VIEWS)
      throw fail('LIMIT_REACHED', { limit: MAX_VIEWS });
    await views.update(before, after);
    return viewAnswer(after, await seenFields(context, [after]));
  },
});
