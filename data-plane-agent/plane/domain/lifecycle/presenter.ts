import type { Catalog, ContractType, Stage, Template, TransitionConfig } from '../../contract/records/lifecycle.js';
import type { WorkflowEvent } from '../../contract/records/workflow.js';
import { iso } from '../../../base/instants.js';
import type { StageRow, TemplateRow, TransitionRow } from '../../tables/lifecycle.js';
import type { ContractTypeRow } from '../../tables/contract-types.js';
import type { WorkflowEventRow } from '../../tables/workflow-events.js';

export function workflowEvent({
  id,
  kind,
  fromStageCode,
  toStageCode,
  transitionCode,
  locked,
  note,
  actorId,
  actorName,
  actorRole,
  source,
  createdAt,
}: WorkflowEventRow): WorkflowEvent {
  const at = iso(createdAt);
  return {
    id,
    kind,
    fromStageCode,
    toStageCode,
    transitionCode,
    locked,
    note,
    actor: { id: actorId, name: actorName, roleCode: actorRole },
    source,
    at,
    createdAt: at,
    updatedAt: at,
  };
}

interface Content {
  readonly stages: readonly StageRow[];
  readonly transitions: readonly TransitionRow[];
}

/** The whole configuration; stages and transitions are listed within their template. */
export const catalogAnswer = ({
  types,
  templates,
  ...content
}: Content & { readonly types: readonly ContractTypeRow[]; readonly templates: readonly TemplateRow[] }): Catalog => ({
  types: types.map(typeAnswer),
  templates: templates.map((template) => templateAnswer(template, content)),
});

/** `content` may contain stages and transitions of other templates. */
export const templateAnswer = (
  { id, code, name, description, isDefault, ...row }: TemplateRow,
  { stages, transitions }: Content,
): Template => ({
  id,
  code,
  name,
  description,
  isDefault,
  stages: stages.filter(({ templateId }) => templateId === id).map(stageAnswer),
  transitions: transitions.filter(({ templateId }) => templateId === id).map(transitionAnswer),
  ...stampsOf(row),
});

export const typeAnswer = ({
  id,
  code,
  name,
  category,
  description,
  enabled,
  position,
  fieldSchema,
  defaultRules,
  defaultTemplateId,
  ...row
}: ContractTypeRow): ContractType => ({
  id,
  code,
  name,
  category,
  description,
  enabled,
  order: position,
  fieldSchema,
  defaultRules,
  defaultLifecycleTemplateId: defaultTemplateId,
  ...stampsOf(row),
});

export const stageAnswer = ({ position, createdAt, updatedAt, ...row }: StageRow): Stage => ({
  ...row,
  order: position,
  ...stampsOf({ createdAt, updatedAt }),
});

export const transitionAnswer = ({ position, createdAt, updatedAt, ...row }: TransitionRow): TransitionConfig => ({
  ...row,
  order: position,
  ...stampsOf({ createdAt, updatedAt }),
});

const stampsOf = ({ createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number }) => ({
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});
