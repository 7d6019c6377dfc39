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

/** A new type. `position` is the default when no order is given. */
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

/** Fields that are not given stay; `null` restores the default. */
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
  completionRules: normalized(input.completionRules),
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
    completionRules: patch.completionRules === undefined ? row.completionRules : normalized(patch.completionRules),
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
  conditions: normalized(input.conditions),
  effects: normalizedEffects(input.effects),
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
  conditions: patch.conditions === undefined ? row.conditions : normalized(patch.conditions),
  effects: patch.effects === undefined ? row.effects : normalizedEffects(patch.effects),
  position: patch.order ?? row.position,
  enabled: given(patch.enabled, row.enabled, true),
});

/** The position after the last record, leaving room for records in between. */
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

/** Conditions and effects in stored form: without empty values, and without duplicates in lists. */
const normalized = (conditions: Conditions | null | undefined): Conditions => compact(conditions ?? {});

function normalizedEffects(effects: Effects | null | undefined): Effects {
  const { createTask, ...others } = effects ?? {};
  return { ...compact(others), ...(createTask ? { createTask: compact(createTask) } : {}) };
}

const compact = <T extends object>(record: T): T =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0))
      .map(([key, value]) => [key, Array.isArray(value) ? [...new Set<unknown>(value)] : value]),
  ) as T; // only optional fields are left out
