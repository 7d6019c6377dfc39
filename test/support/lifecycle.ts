import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type {
  StageInput,
  Template,
  TransitionConfigInput,
} from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { WORKFLOW_STAGES, type Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { TestPlane } from './plane.js';
import { aContract } from './samples.js';

/** The same workflow control at every stage. */
export const controlsOf = (control: Control): Call['controls'] =>
  Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, control]));

/** A contract at this stage, created by a caller with the necessary permissions. */
export const contractAt = (
  { as }: TestPlane,
  lifecycleStageCode: string,
  changes: Partial<ContractInput> = {},
): Promise<ContractDetail> =>
  as({ controls: controlsOf('admin') }).createContract(aContract({ lifecycleStageCode, ...changes }));

/** The failure of a refused call. */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ readonly code: string; readonly details: Readonly<Record<string, unknown>> } | 'carried out'> {
  try {
    await work;
  } catch (error) {
    if (isFailure(error)) return { code: error.code, details: { ...error.details } };
    throw error;
  }
  return 'carried out';
}

/** A custom template with these stages and transitions between them. */
export async function aTemplate(
  { plane }: TestPlane,
  {
    code = 'own',
    stages,
    transitions = [],
  }: {
    readonly code?: string;
    readonly stages: readonly StageInput[];
    readonly transitions?: readonly TransitionConfigInput[];
  },
): Promise<Template> {
  const { id } = await plane.createLifecycleTemplate({ code, name: code });
  for (const stage of stages) await plane.addLifecycleStage({ templateId: id, stage });
  for (const transition of transitions) await plane.addLifecycleTransition({ templateId: id, transition });
  const { templates } = await plane.getContractCatalog({});
  const made = templates.find((template) => template.id === id);
  if (!made) throw new Error('the template is not in the catalogue');
  return made;
}
