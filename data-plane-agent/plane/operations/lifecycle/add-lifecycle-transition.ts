import { s } from '../../../base/schema.js';
import { MAX_TRANSITIONS, TransitionConfig, TransitionConfigInput } from '../../contract/records/lifecycle.js';
import { afterLast, newTransition } from '../../domain/lifecycle/config-changes.js';
import { checkConditions } from '../../domain/lifecycle/config-checks.js';
import { transitionAnswer } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';
import {
  checkCode,
  checkCustomFields,
  checkEffects,
  checkRoom,
  foundTemplate,
  only,
  openConfig,
} from '../../steps/lifecycle/checks.js';
import { checkEnds } from '../../steps/lifecycle/check-ends.js';

export const addLifecycleTransition = operation({
  effect: 'write',
  input: s.object({ templateId: s.id(), transition: TransitionConfigInput }),
  output: TransitionConfig,
  fails: ['DUPLICATE_CODE', 'LIMIT_REACHED', 'REFERENCE_INVALID'],
  async run(context, _call, { templateId, transition: input }) {
    const { store, newId } = context;
    checkConditions('conditions', input.conditions);
    await openConfig(context);
    const template = await foundTemplate(context, templateId);
    const { stages, transitions } = await store.lifecycle.of(template.id);
    const transition = newTransition(input, { id: newId(), templateId: template.id, position: afterLast(transitions) });
    checkCode(transitions, transition);
    checkRoom(transitions, MAX_TRANSITIONS);
    checkEnds(transition, stages);
    await checkCustomFields(context, 'conditions', input.conditions);
    await checkEffects(context, input.effects);
    const rows = await store.lifecycleConfig.insertTransitions([transition]);
    return only(rows.map(transitionAnswer));
  },
});
