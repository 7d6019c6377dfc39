import type { Conditions, Effects } from '../../contract/records/conditions.js';
import type {
  ContractTypeInput,
  ContractTypePatch,
  StageInput,
  StagePatch,
  TransitionConfigInput,
  TransitionConfigPatch,
} from '../../contract/records/lifecycle.js';
import { WORKFLOW_STAGES, type WorkflowStage } from '../../contract/vocabulary.js';
import type { StageRow, TransitionRow } from '../../tables/lifecycle.js';
import type { ContractTypeRow } from '../../tables/contract-types.js';

type Unstamped<R> = Omit<R, 'createdAt' | 'updatedAt'>;

/** A type as it is entered. `position` is that after the last. */
export const newType = (
  input: ContractTypeInput,
  { id, position }: { readonly id: string; readonly position: number },
): Unstamped<ContractTypeRow> => ({
  id,
  code: input.code,
  name: input.name,
  category: input.category ?? typeCategory(input.code),
  description: input.description ?? null,
  enabled: input.enabled ?? true,
  position: input.order ?? position,
  fieldSchema: input.fieldSchema ?? {},
  defaultRules: input.defaultRules ?? {},
  defaultTemplateId: input.defaultLifecycleTemplateId ?? null,
});

/** What is not given stays; `null` brings the default back. */
export function patchedType(row: ContractTypeRow, patch: ContractTypePatch): ContractTypeRow {
  const code = patch.code ?? row.code;
  return {
    ...row,
    code,
    name: patch.name ?? row.name,
    category: given(patch.category, row.category, typeCategory(code)),
    description: given(patch.description, row.description, null),
    enabled: given(patch.enabled, row.enabled, true),
    position: patch.order ?? row.position,
    fieldSchema: given(patch.fieldSchema, row.fieldSchema, {}),
    defaultRules: given(patch.defaultRules, row.defaultRules, {}),
    defaultTemplateId: given(patch.defaultLifecycleTemplateId, row.defaultTemplateId, null),
  };
}

export const newStage = (
  input: StageInput,
  { id, templateId, position }: { readonly id: string; readonly templateId: string; readonly position: number },
): Unstamped<StageRow> => ({
  id,
  templateId,
  code: input.code,
  name: input.name,
  category: input.category ?? stageCategory(input.code),
  position: input.order ?? position,
  isTerminal: input.isTerminal ?? false,
  locksCoreFields: input.locksCoreFields ?? false,
  completionRules: said(input.completionRules),
  allowedRoleCodes: [...new Set(input.allowedRoleCodes ?? [])],
});

export function patchedStage(row: StageRow, patch: StagePatch): StageRow {
  const code = patch.code ?? row.code;
  return {
    ...row,
    code,
    name: patch.name ?? row.name,
    category: given(patch.category, row.category, stageCategory(code)),
    position: patch.order ?? row.position,
    isTerminal: given(patch.isTerminal, row.isTerminal, false),
    locksCoreFields: given(patch.locksCoreFields, row.locksCoreFields, false),
    completionRules: patch.completionRules === undefined ? row.completionRules : said(patch.completionRules),
    allowedRoleCodes:
      patch.allowedRoleCodes === undefined ? row.allowedRoleCodes : [...new Set(patch.allowedRoleCodes ?? [])],
  };
}

export const newTransition = (
  input: TransitionConfigInput,
  { id, templateId, position }: { readonly id: string; readonly templateId: string; readonly position: number },
): Unstamped<TransitionRow> => ({
  id,
  templateId,
  code: input.code,
  name: input.name,
  fromStageCode: input.fromStageCode,
  toStageCode: input.toStageCode,
  requiredControl: input.requiredControl ?? 'edit',
  conditions: said(input.conditions),
  effects: saidEffects(input.effects),
  position: input.order ?? position,
  enabled: input.enabled ?? true,
});

export const patchedTransition = (row: TransitionRow, patch: TransitionConfigPatch): TransitionRow => ({
  ...row,
  code: patch.code ?? row.code,
  name: patch.name ?? row.name,
  fromStageCode: patch.fromStageCode ?? row.fromStageCode,
  toStageCode: patch.toStageCode ?? row.toStageCode,
  requiredControl: given(patch.requiredControl, row.requiredControl, 'edit'),
  conditions: patch.conditions === undefined ? row.conditions : said(patch.conditions),
  effects: patch.effects === undefined ? row.effects : saidEffects(patch.effects),
  position: patch.order ?? row.position,
  enabled: given(patch.enabled, row.enabled, true),
});

/** The place after the last of a list, with room between for what comes later. */
export const afterLast = (rows: readonly { readonly position: number }[]): number =>
  Math.min(MAX_POSITION, rows.reduce((last, { position }) => Math.max(last, position), 0) + STEP);

const STEP = 10;
const MAX_POSITION = 1_000_000;

const typeCategory = (code: string): string => (code === 'lease' ? 'lease' : 'sale');
const stageCategory = (code: string): WorkflowStage =>
  WORKFLOW_STAGES.find((category) => category === code) ?? 'review';

/** `undefined` leaves a field as it is, `null` brings its default back. */
const given = <T>(value: T | null | undefined, present: T, otherwise: T): T =>
  value === undefined ? present : (value ?? otherwise);

/** Conditions and effects as they are kept: without what says nothing, each element of a list once. */
const said = (conditions: Conditions | null | undefined): Conditions => compact(conditions ?? {});

function saidEffects(effects: Effects | null | undefined): Effects {
  const { createTask, ...others } = effects ?? {};
  return { ...compact(others), ...(createTask ? { createTask: compact(createTask) } : {}) };
}

const compact = <T extends object>(record: T): T =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0))
      .map(([key, value]) => [key, Array.isArray(value) ? [...new Set<unknown>(value)] : value]),
  ) as T; // only optional fields are left out
