import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { Stage, StagePatch } from '../../contract/records/lifecycle.js';
import { patchedStage } from '../../domain/lifecycle/config-changes.js';
import { checkConditions } from '../../domain/lifecycle/config-checks.js';
import { stageAnswer } from '../../domain/lifecycle/presenter.js';
import { checkCode, checkCustomFields, openConfig } from '../../steps/lifecycle/checks.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';
import type { StageRow } from '../../tables/lifecycle.js';

/** Updates a stage. Contracts in it are neither moved, locked nor unlocked; only its new name is shown. */
export const updateLifecycleStage = operation({
  effect: 'write',
  input: s.object({ stageId: s.id(), changes: StagePatch }),
  output: Stage,
  fails: ['DUPLICATE_CODE', 'STAGE_IN_USE', 'REFERENCE_INVALID'],
  async run(context, _call, { stageId, changes }) {
    const { store } = context;
    checkConditions('completionRules', changes.completionRules);
    await openConfig(context);
    const before = await store.lifecycleConfig.stage(stageId);
    if (!before) throw fail('NOT_FOUND', {});
    const after = patchedStage(before, changes);
    checkCode(await store.lifecycle.stages(before.templateId), after);
    if (after.code !== before.code || after.category !== before.category || after.name !== before.name)
      await store.lifecycleConfig.holdStages();
    await refuseUsed(context, before, after);
    await checkCustomFields(context, 'completionRules', changes.completionRules);
    const row = await store.lifecycleConfig.updateStage(before, after);
    if (row.name !== before.name) await store.lifecycleConfig.renameInContracts(row);
    return stageAnswer(row);
  },
});

/**
 * Contracts, transitions and reminder rules refer to a stage by its code, and its category is their workflow status.
 */
async function refuseUsed({ store }: OperationContext, before: StageRow, after: StageRow): Promise<void> {
  const isRenamed = after.code !== before.code;
  if (!isRenamed && after.category === before.category) return;
  const contracts = await store.lifecycleConfig.contractsIn(before);
  const transitions = isRenamed ? await store.lifecycle.transitions(before.templateId) : [];
  const types = isRenamed ? await store.lifecycleConfig.types() : [];
  const transitionCodes = transitions
    .filter(({ fromStageCode, toStageCode }) => fromStageCode === before.code || toStageCode === before.code)
    .map(({ code }) => code);
  const { id: defaultId } = await store.lifecycle.defaultTemplate();
  const typeCodes = types
    .filter(
      ({ defaultRules, defaultTemplateId }) =>
        defaultRules['remindFromStage'] === before.code && (defaultTemplateId ?? defaultId) === before.templateId,
    )
    .map(({ code }) => code);
  if (contracts + transitionCodes.length + typeCodes.length > 0)
    throw fail('STAGE_IN_USE', { contracts, transitionCodes, typeCodes });
}
