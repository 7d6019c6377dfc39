import { fail, invalid } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Call } from '../../contract/call.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import { isEarlyStage, requireControl } from '../../domain/lifecycle/lifecycle.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { StageRow } from '../../tables/lifecycle.js';

/** The type and first stage of a new contract. Stages later than review need the `admin` control. */
export async function placeInLifecycle(
  { store }: Pick<OperationContext, 'store'>,
  call: Call,
  input: ContractInput,
): Promise<{ type: ContractRow['type']; stage: StageRow }> {
  await store.lifecycle.ensureShipped();
  await store.lifecycle.hold();
  const contractType = input.typeCode ? await store.lifecycle.type(input.typeCode) : undefined;
  if (input.typeCode && !contractType?.enabled)
    throw fail('REFERENCE_INVALID', { field: 'typeCode', value: input.typeCode });
  const stage = await firstStage(store, input, contractType?.defaultTemplateId ?? null);
  if (!isEarlyStage(stage.category)) requireControl(call.controls, stage, 'admin');
  const category =
    contractType?.category === 'sale' || contractType?.category === 'lease' ? contractType.category : 'sale';
  return { type: input.type ?? category, stage };
}

/** The named stage, or the first of the named category, or the first of the template. */
async function firstStage(
  store: OperationContext['store'],
  { lifecycleTemplateId, lifecycleStageCode, workflowStage }: ContractInput,
  typeTemplateId: string | null,
): Promise<StageRow> {
  const templateId = lifecycleTemplateId ?? typeTemplateId;
  const stages = await (templateId === null ? store.lifecycle.defaultStages() : stagesOf(store, templateId));
  const [first] = stages;
  // Contracts need a stage to start in.
  if (!first)
    throw fail('REFERENCE_INVALID', {
      field: 'lifecycleTemplateId',
      value: templateId ?? (await store.lifecycle.defaultTemplate()).id,
    });
  const named = lifecycleStageCode ? stages.find(({ code }) => code === lifecycleStageCode) : undefined;
  if (lifecycleStageCode && !named)
    throw fail('REFERENCE_INVALID', { field: 'lifecycleStageCode', value: lifecycleStageCode });
  const inCategory = workflowStage ? stages.find(({ category }) => category === workflowStage) : undefined;
  if (workflowStage && !inCategory) throw fail('REFERENCE_INVALID', { field: 'workflowStage', value: workflowStage });
  if (named && workflowStage && named.category !== workflowStage)
    throw invalid({ path: 'workflowStage', problem: 'must be the category of lifecycleStageCode' });
  return named ?? inCategory ?? first;
}

const stagesOf = async (store: OperationContext['store'], templateId: string): Promise<StageRow[]> =>
  isId(templateId) ? store.lifecycle.stages(templateId) : [];
