import { s } from '../../../base/schema.js';
import { MAX_STAGES, Stage, StageInput } from '../../contract/records/lifecycle.js';
import { afterLast, newStage } from '../../domain/lifecycle/config-changes.js';
import { checkConditions } from '../../domain/lifecycle/config-checks.js';
import { stageAnswer } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';
import {
  checkCode,
  checkCustomFields,
  checkRoom,
  foundTemplate,
  only,
  openConfig,
} from '../../steps/lifecycle/checks.js';

export const addLifecycleStage = operation({
  effect: 'write',
  input: s.object({ templateId: s.id(), stage: StageInput }),
  output: Stage,
  fails: ['DUPLICATE_CODE', 'LIMIT_REACHED', 'REFERENCE_INVALID'],
  async run(context, _call, { templateId, stage: input }) {
    const { store, newId } = context;
    checkConditions('completionRules', input.completionRules);
    await openConfig(context);
    const template = await foundTemplate(context, templateId);
    const stages = await store.lifecycle.stages(template.id);
    const stage = newStage(input, { id: newId(), templateId: template.id, position: afterLast(stages) });
    checkCode(stages, stage);
    checkRoom(stages, MAX_STAGES);
    await checkCustomFields(context, 'completionRules', input.completionRules);
    const rows = await store.lifecycleConfig.insertStages([stage]);
    return only(rows.map(stageAnswer));
  },
});
