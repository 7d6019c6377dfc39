import { fail } from '../../data-plane-agent/base/failures.js';
import {
  Catalog,
  ContractType,
  ContractTypeInput,
  ContractTypePatch,
  Stage,
  StageInput,
  StagePatch,
  Template,
  TemplateInput,
  TemplatePatch,
  TransitionConfig,
  TransitionConfigInput,
  TransitionConfigPatch,
} from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import { edit, view } from '../access/permissions.js';
import type { Plane } from '../data-planes/plane.js';
import { judgeStage, judgeTransition } from '../data-planes/judged-bodies.js';
import { endpoint } from '../http/endpoint.js';
import { checkEffects, checkRoleCodes } from './config-references.js';

const getContractCatalog = endpoint('GET /contract-config/catalog', {
  summary: 'Read contract types and lifecycle templates',
  description:
    'Every tenant begins with the types `sale` and `lease` and the template `standard`. Disabled types and transitions are listed too.',
  needs: view('contract_view'),
  returns: Catalog,
  calls: ['getContractCatalog'],
  fails: [],
  run: ({ plane }) => plane.getContractCatalog({}),
});

const createContractType = endpoint('POST /contract-config/types', {
  summary: 'Add a contract type',
  description: 'At most 100.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: ContractTypeInput,
  status: 201,
  returns: ContractType,
  calls: ['createContractType'],
  fails: [],
  run: ({ body, plane }) => plane.createContractType(body),
});

const updateContractType = endpoint('PATCH /contract-config/types/:id', {
  summary: 'Change a contract type',
  description:
    'What is not given stays; `null` brings a default back. Contracts that have the type stay as they are, also when it is disabled. Its code cannot change while contracts have it or custom fields name it.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: ContractTypePatch,
  returns: ContractType,
  calls: ['updateContractType'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateContractType({ typeId: params.id, changes: body }),
});

const createLifecycleTemplate = endpoint('POST /contract-config/lifecycle/templates', {
  summary: 'Add a lifecycle template',
  description:
    "Empty, or with copies of another one's stages and transitions. At most 50. A contract can have it, and it can be the default, once it has a stage.",
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: TemplateInput,
  status: 201,
  returns: Template,
  calls: ['createLifecycleTemplate'],
  fails: [],
  run: ({ body, plane }) => plane.createLifecycleTemplate(body),
});

const updateLifecycleTemplate = endpoint('PATCH /contract-config/lifecycle/templates/:id', {
  summary: 'Change a lifecycle template',
  description:
    'There is exactly one default: making another one the default takes it from the one before, and it cannot be given up otherwise. Contracts keep the template that they have.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: TemplatePatch,
  returns: Template,
  calls: ['updateLifecycleTemplate'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateLifecycleTemplate({ templateId: params.id, changes: body }),
});

const addLifecycleStage = endpoint('POST /contract-config/lifecycle/templates/:templateId/stages', {
  summary: 'Add a stage to a lifecycle template',
  description:
    'At most 100. `completionRules` must hold whenever a contract leaves the stage, whichever way. Codes are unique within the template.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: StageInput,
  judge: judgeStage,
  status: 201,
  returns: Stage,
  calls: ['getContractCatalog', 'addLifecycleStage'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkRoleCodes('allowedRoleCodes', body.allowedRoleCodes, {
      principal,
      services,
      found: () => inCatalog(plane, { templateId: params.templateId }),
    });
    return plane.addLifecycleStage({ templateId: params.templateId, stage: body });
  },
});

const updateLifecycleStage = endpoint('PATCH /contract-config/lifecycle/stages/:id', {
  summary: 'Change a lifecycle stage',
  description:
    'What is not given stays; `null` brings a default back; `completionRules` and `allowedRoleCodes` are replaced as a whole. No contract is moved, locked or unlocked by it: those in the stage show its new name, with their versions unmoved. ' +
    "Its category cannot change while contracts are in it (also deleted ones that can be restored), its code neither then nor while a transition or a type's `remindFromStage` names it (`STAGE_IN_USE`).",
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: StagePatch,
  judge: judgeStage,
  returns: Stage,
  calls: ['getContractCatalog', 'updateLifecycleStage'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkRoleCodes('allowedRoleCodes', body.allowedRoleCodes, {
      principal,
      services,
      found: () => inCatalog(plane, { stageId: params.id }),
    });
    return plane.updateLifecycleStage({ stageId: params.id, changes: body });
  },
});

const addLifecycleTransition = endpoint('POST /contract-config/lifecycle/templates/:templateId/transitions', {
  summary: 'Add a transition to a lifecycle template',
  description:
    'At most 500. Codes are unique within the template. Out of a terminal stage it needs the control `admin`, whatever `requiredControl` says.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: TransitionConfigInput,
  judge: judgeTransition,
  status: 201,
  returns: TransitionConfig,
  calls: ['getContractCatalog', 'addLifecycleTransition'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkEffects(body.effects, {
      principal,
      services,
      found: () => inCatalog(plane, { templateId: params.templateId }),
    });
    return plane.addLifecycleTransition({ templateId: params.templateId, transition: body });
  },
});

const updateLifecycleTransition = endpoint('PATCH /contract-config/lifecycle/transitions/:id', {
  summary: 'Change a lifecycle transition',
  description:
    'What is not given stays; `null` brings a default back; `conditions` and `effects` are replaced as a whole. It holds from the next move on.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: TransitionConfigPatch,
  judge: judgeTransition,
  returns: TransitionConfig,
  calls: ['getContractCatalog', 'updateLifecycleTransition'],
  fails: [],
  run: async ({ params, body, plane, principal, services }) => {
    await checkEffects(body.effects, {
      principal,
      services,
      found: () => inCatalog(plane, { transitionId: params.id }),
    });
    return plane.updateLifecycleTransition({ transitionId: params.id, changes: body });
  },
});

/** The record that the path names must be there before anything is said of what the body names. */
async function inCatalog(
  plane: Pick<Plane, 'getContractCatalog'>,
  {
    templateId,
    stageId,
    transitionId,
  }: { readonly templateId?: string; readonly stageId?: string; readonly transitionId?: string },
): Promise<void> {
  const { templates } = await plane.getContractCatalog({});
  const isThere = templates.some(
    ({ id, stages, transitions }) =>
      id === templateId ||
      stages.some((stage) => stage.id === stageId) ||
      transitions.some((transition) => transition.id === transitionId),
  );
  if (!isThere) throw fail('NOT_FOUND', {});
}

export const contractConfigEndpoints = {
  getContractCatalog,
  createContractType,
  updateContractType,
  createLifecycleTemplate,
  updateLifecycleTemplate,
  addLifecycleStage,
  updateLifecycleStage,
  addLifecycleTransition,
  updateLifecycleTransition,
};
