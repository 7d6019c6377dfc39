import { fail, invalid } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import { controlAt, holds, isEarlyStage } from '../../domain/lifecycle/lifecycle.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { StageRow } from '../../tables/lifecycle.js';

/**
 * The contract's type and the stage at which it begins: later stages than review are for those who administer the
 * workflow.
 */
export async function placeInLifecycle(
  { store }: Pick<OperationContext, 'store'>,
  call: Call,
  input: ContractInput,
): Promise<{ type: ContractRow['type']; stage: StageRow }> {
  await store.lifecycle.ensureShipped();
  await store.lifecycle.hold();
  const typed = input.typeCode ? await store.lifecycle.type(input.typeCode) : undefined;
  if (input.typeCode && !typed?.enabled) throw fail('REFERENCE_INVALID', { field: 'typeCode', value: input.typeCode });
  const stage = await firstStage(store, input, typed?.defaultTemplateId ?? null);
  if (!isEarlyStage(stage.category) && !holds(controlAt(call.controls, stage), 'admin'))
    throw fail('WORKFLOW_CONTROL_REQUIRED', { control: 'admin', stage: stage.code });
  const category = typed?.category === 'sale' || typed?.category === 'lease' ? typed.category : 'sale';
  return { type: input.type ?? category, stage };
}

/** The stage that is named, or the first of the category that is named, or the template's first. */
async function firstStage(
  store: OperationContext['store'],
  { lifecycleTemplateId, lifecycleStageCode, workflowStage }: ContractInput,
  typeTemplateId: string | null,
): Promise<StageRow> {
  const templateId = lifecycleTemplateId ?? typeTemplateId ?? (await store.lifecycle.defaultTemplate()).id;
  const stages = isId(templateId) ? await store.lifecycle.stages(templateId) : [];
  const [first] = stages;
  // A template without a stage has no place for a contract yet.
  if (!first) throw fail('REFERENCE_INVALID', { field: 'lifecycleTemplateId', value: templateId });
  const named = lifecycleStageCode ? stages.find(({ code }) => code === lifecycleStageCode) : undefined;
  if (lifecycleStageCode && !named)
    throw fail('REFERENCE_INVALID', { field: 'lifecycleStageCode', value: lifecycleStageCode });
  const inCategory = workflowStage ? stages.find(({ category }) => category === workflowStage) : undefined;
  if (workflowStage && !inCategory) throw fail('REFERENCE_INVALID', { field: 'workflowStage', value: workflowStage });
  if (named && workflowStage && named.category !== workflowStage)
    throw invalid({ path: 'workflowStage', problem: 'must be the category of lifecycleStageCode' });
  return named ?? inCategory ?? first;
}
