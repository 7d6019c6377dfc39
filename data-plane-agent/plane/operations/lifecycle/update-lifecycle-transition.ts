import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { TransitionConfig, TransitionConfigPatch } from '../../contract/records/lifecycle.js';
import { patchedTransition } from '../../domain/lifecycle/config-changes.js';
import { checkConditions } from '../../domain/lifecycle/config-checks.js';
import { transitionAnswer } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';
import { checkEnds } from '../../steps/lifecycle/check-ends.js';
import { checkCode, checkCustomFields, checkEffects, openConfig } from '../../steps/lifecycle/checks.js';

export const updateLifecycleTransition = operation({
  effect: 'write',
  input: s.object({ transitionId: s.id(), changes: TransitionConfigPatch }),
  output: TransitionConfig,
  fails: ['DUPLICATE_CODE', 'REFERENCE_INVALID'],
  async run(context, _call, { transitionId, changes }) {
    const { store } = context;
    checkConditions('conditions', changes.conditions);
    await openConfig(context);
    const before = await store.lifecycleConfig.transition(transitionId);
    if (!before) throw fail('NOT_FOUND', {});
    const after = patchedTransition(before, changes);
    const { stages, transitions } = await store.lifecycle.of(before.templateId);
    checkCode(transitions, after);
    checkEnds(after, stages);
    await checkCustomFields(context, 'conditions', changes.conditions);
    await checkEffects(context, changes.effects);
    return transitionAnswer(await store.lifecycleConfig.updateTransition(before, after));
  },
});
