import { fail, invalid } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Conditions, Effects } from '../../contract/records/conditions.js';
import { customFieldsOf } from '../../domain/lifecycle/config-checks.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractTypeRow } from '../../tables/contract-types.js';
import type { TemplateRow } from '../../tables/lifecycle.js';

type WithStore = Pick<OperationContext, 'store'>;

/** Opens the tenant's configuration for a change: it is there, and nobody else changes it meanwhile. */
export async function openConfig({ store }: WithStore): Promise<void> {
  await store.lifecycle.ensureShipped();
  await store.lifecycleConfig.hold();
}

/** A template of the tenant, by its id in the path. */
export async function foundTemplate({ store }: WithStore, id: string): Promise<TemplateRow> {
  const template = isId(id)
    ? (await store.lifecycleConfig.templates()).find((candidate) => candidate.id === id)
    : undefined;
  if (!template) throw fail('NOT_FOUND', {});
  return template;
}

/** Refuses a code that another record of the same list has. */
export function checkCode(
  rows: readonly { readonly id: string; readonly code: string }[],
  { id, code }: { readonly id: string; readonly code: string },
): void {
  if (rows.some((row) => row.code === code && row.id !== id))
    throw fail('DUPLICATE_CODE', { field: 'code', value: code });
}

export function checkRoom(rows: readonly unknown[], limit: number): void {
  if (rows.length >= limit) throw fail('LIMIT_REACHED', { limit });
}

/**
 * Refuses what cannot be an id at all, and a channel that is being removed; another is not removed before this is
 * written. Whether there is such a channel or member is known to the control plane, which has asked before.
 */
export async function checkEffects({ store }: WithStore, effects: Effects | null | undefined): Promise<void> {
  const named = {
    'effects.notifyChannelId': effects?.notifyChannelId,
    'effects.createTask.ownerId': effects?.createTask?.ownerId,
  };
  for (const [field, value] of Object.entries(named))
    if (value && !isId(value)) throw fail('REFERENCE_INVALID', { field, value });
  const channelId = effects?.notifyChannelId;
  if (channelId && !(await store.closings.isOpen(channelId)))
    throw fail('REFERENCE_INVALID', { field: 'effects.notifyChannelId', value: channelId });
}

/** Custom fields that conditions ask for must be there, and not archived. */
export async function checkCustomFields(
  { store }: WithStore,
  path: string,
  conditions: Conditions | null | undefined,
): Promise<void> {
  const named = customFieldsOf(path, conditions ?? {});
  if (named.length === 0) return;
  const live = new Set((await store.fields.all()).filter(({ archived }) => !archived).map(({ id }) => id));
  const dangling = named.find(({ id }) => !live.has(id));
  if (dangling) throw fail('REFERENCE_INVALID', { field: dangling.field, value: dangling.value });
}

/** A type's template must be there. */
export async function checkTypeTemplate(
  context: WithStore,
  { defaultTemplateId }: Pick<ContractTypeRow, 'defaultTemplateId'>,
): Promise<void> {
  if (defaultTemplateId !== null && !(await hasTemplate(context, defaultTemplateId)))
    throw fail('REFERENCE_INVALID', { field: 'defaultLifecycleTemplateId', value: defaultTemplateId });
}

/**
 * A type's template must have a stage, and its reminder rule name one of them. Of a template that is not there nothing
 * can be said: `checkTypeTemplate` refuses it.
 */
export async function checkTypeRules(
  { store }: WithStore,
  { defaultTemplateId, defaultRules }: Pick<ContractTypeRow, 'defaultTemplateId' | 'defaultRules'>,
): Promise<void> {
  if (defaultTemplateId !== null && !(await hasTemplate({ store }, defaultTemplateId))) return;
  const stages = await store.lifecycle.stages(defaultTemplateId ?? (await store.lifecycle.defaultTemplate()).id);
  if (stages.length === 0)
    throw invalid({ path: 'defaultLifecycleTemplateId', problem: 'must be a template that has a stage' });
  const from = defaultRules['remindFromStage'];
  if (from !== undefined && from !== null && !stages.some(({ code }) => code === from))
    throw invalid({
      path: 'defaultRules.remindFromStage',
      problem: `must be a stage code of the type's lifecycle template: ${stages.map(({ code }) => code).join(', ')}`,
    });
}

const hasTemplate = async ({ store }: WithStore, templateId: string): Promise<boolean> =>
  (await store.lifecycleConfig.templates()).some(({ id }) => id === templateId);

/** The one record of a list that was made from one. */
export function only<R>([record]: readonly R[]): R {
  if (record === undefined) throw new Error('one record was written, and none came back');
  return record;
}
