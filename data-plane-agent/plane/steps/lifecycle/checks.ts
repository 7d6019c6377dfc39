import { fail, invalid } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import type { Conditions, Effects } from '../../contract/records/conditions.js';
import { customFieldsOf } from '../../domain/lifecycle/config-checks.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractTypeRow } from '../../tables/contract-types.js';
import type { TemplateRow } from '../../tables/lifecycle.js';

type WithStore = Pick<OperationContext, 'store'>;

/** Locks the tenant's lifecycle configuration for a change, after adding the shipped defaults if needed. */
export async function openConfig({ store }: WithStore): Promise<void> {
  await store.lifecycle.ensureShipped();
  await store.lifecycleConfig.hold();
}

/** The tenant's template with the id from the path. Throws NOT_FOUND. */
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
 * Refuses malformed ids, and a channel that is being deleted; the check also blocks its deletion until the transaction
 * ends. The control plane has already checked that the channel and the member exist.
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

/** Custom fields in conditions must exist and not be archived. */
export async function checkCustomFields(
  { store }: WithStore,
  path: string,
  conditions: Conditions | null | undefined,
): Promise<void> {
  const named = customFieldsOf(path, conditions ?? {});
  if (named.length === 0) return;
  const live = new Set((await store.fields.all()).filter(({ archived }) => !archived).map(({ id }) => id));
  const missing = named.find(({ id }) => !live.has(id));
  if (missing) throw fail('REFERENCE_INVALID', { field: missing.field, value: missing.value });
}

/** A type's template must exist. */
export async function checkTypeTemplate(
  context: WithStore,
  { defaultTemplateId }: Pick<ContractTypeRow, 'defaultTemplateId'>,
): Promise<void> {
  if (defaultTemplateId !== null && !(await hasTemplate(context, defaultTemplateId)))
    throw fail('REFERENCE_INVALID', { field: 'defaultLifecycleTemplateId', value: defaultTemplateId });
}

/**
 * A type's template must have a stage, and its reminder rule must name one of its stages. A missing template is refused
 * by `checkTypeTemplate`.
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

/** The only record of a list. */
export function only<R>([record]: readonly R[]): R {
  if (record === undefined) throw new Error('no record was returned for the one written');
  return record;
}
