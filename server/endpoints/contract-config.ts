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
import { stageRuleIssues, transitionIssues } from '../data-planes/body-issues.js';
import { endpoint } from '../http/endpoint.js';
import { checkEffects, checkRoleCodes } from './config-references.js';

const getContractCatalog = endpoint('GET /contract-config/catalog', {
  summary: 'Read contract types and lifecycle templates',
  description:
    'Every tenant starts with the types `sale` and `lease` and the template `standard`. Disabled types and transitions are listed too.',
  needs: view('contract_view'),
  returns: Catalog,
  calls: ['getContractCatalog'],
  fails: [],
  run: ({ plane }) => plane.getContractCatalog({}),
});

const createContractType = endpoint('POST /contract-config/types', {
  summary: 'Create a contract type',
  description: 'A tenant has at most 100.',
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
  summary: 'Update a contract type',
  description:
    'Omitted fields are unchanged; `null` restores a default. Contracts that have the type are unchanged, also when it is disabled. Its code cannot be changed while contracts or custom fields refer to it.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: ContractTypePatch,
  returns: ContractType,
  calls: ['updateContractType'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateContractType({ typeId: params.id, changes: body }),
});

const createLifecycleTemplate = endpoint('POST /contract-config/lifecycle/templates', {
  summary: 'Create a lifecycle template',
  description:
    "The new template is empty, or has copies of another template's stages and transitions. A tenant has at most 50. A template needs at least one stage before contracts can use it or it can be the default.",
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
  summary: 'Update a lifecycle template',
  description:
    'There is always exactly one default template: it can only be replaced by making another template the default. Contracts keep their template.',
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
    'A template has at most 100 stages. `completionRules` must hold whenever a contract leaves the stage, by any transition. Codes are unique within the template.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: StageInput,
  furtherIssues: stageRuleIssues,
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
  summary: 'Update a lifecycle stage',
  description:
    'Omitted fields are unchanged; `null` restores a default; `completionRules` and `allowedRoleCodes` are replaced as a whole. The update does not move, lock or unlock any contract: contracts in the stage show its new name and keep their versions. ' +
    "Its category cannot be changed while contracts are in it (including deleted contracts that can be restored). Its code cannot be changed then either, nor while a transition or a type's `remindFromStage` refers to it (`STAGE_IN_USE`).",
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: StagePatch,
  furtherIssues: stageRuleIssues,
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
    'A template has at most 500 transitions. Codes are unique within the template. A transition out of a terminal stage requires the workflow control `admin`, regardless of `requiredControl`.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: TransitionConfigInput,
  furtherIssues: transitionIssues,
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
  summary: 'Update a lifecycle transition',
  description:
    'Omitted fields are unchanged; `null` restores a default; `conditions` and `effects` are replaced as a whole. The change applies from the next move of a contract.',
  needs: edit('admin'),
  feature: 'workflowAutomation',
  body: TransitionConfigPatch,
  furtherIssues: transitionIssues,
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

/** The record named in the path must exist; it is checked before the references in the body. */
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
