import { invalid } from '../../../base/failures.js';
import type { FieldValue } from '../../contract/records/fields.js';
import { isChoice, visibleTo } from '../../domain/fields/definition.js';
import { withValue } from '../../domain/fields/memory.js';
import { nextOptions } from '../../domain/fields/options.js';
import type { OperationContext } from '../operation-context.js';
import { fieldNamed, notSeen, type CommandOutcome, type FieldCommandContext } from './command.js';

/** Replaces the options of a choice field. Values keep removed options, or lose them with `onRemoved: clear`. */
export async function updateFieldOptions({
  context,
  call,
  payload,
  fields,
}: FieldCommandContext<'UpdateFieldOptions'>): Promise<CommandOutcome> {
  const { store, clock, newId } = context;
  const field = fieldNamed(fields, 'payload.fieldId', payload.fieldId);
  if (!isChoice(field.type))
    throw invalid({
      path: 'payload.fieldId',
      problem: `must be a field with options; this one is of the type ${field.type}`,
    });
  const forgets = payload.onRemoved === 'clear';
  const { options, removed } = nextOptions(field.options, { given: payload.options, forgets, newId });
  const removedIds = new Set(removed);
  const defaultValue = field.defaultValue === null ? null : without(field.defaultValue, removedIds);
  if (JSON.stringify(options) === JSON.stringify(field.options)) return { field };
  if (forgets && removedIds.size > 0 && !visibleTo(field, call.actor.roleCode)) throw notSeen(field);
  const result = forgets && removedIds.size > 0 ? await clear(context, field.id, removedIds) : undefined;
  const changes = result
    ? { values: { converted: result.converted, cleared: result.cleared, unchanged: result.unchanged } }
    : {};
  const updated = await store.fields.update(
    field,
    { ...field, options, defaultValue, updatedAt: clock.now() },
    changes,
  );
  return { field: updated, ...(result ? { result } : {}) };
}

async function clear(
  { store }: OperationContext,
  fieldId: string,
  removedIds: ReadonlySet<string>,
): Promise<NonNullable<CommandOutcome['result']>> {
  const counts = { total: 0, converted: 0, cleared: 0, unchanged: 0 };
  for await (const step of store.fieldValues.walk(fieldId)) {
    const rows = [];
    for (const { contractId, values } of step) {
      const present = values[fieldId] as FieldValue | undefined; // values match the definition
      if (present === undefined) continue;
      const left = without(present, removedIds);
      counts.total += 1;
      counts[left === present ? 'unchanged' : left === null ? 'cleared' : 'converted'] += 1;
      if (left !== present) rows.push({ contractId, values: withValue(values, fieldId, left) });
    }
    await store.fieldValues.write(rows);
  }
  return { dryRun: false, ...counts, samples: [] };
}

/** A value without these options: the same object if it has none of them, `null` if nothing is left. */
function without(value: FieldValue, removedIds: ReadonlySet<string>): FieldValue | null {
  if (typeof value === 'string') return removedIds.has(value) ? null : value;
  if (typeof value !== 'object') return value;
  const left = value.filter((id) => !removedIds.has(id));
  return left.length === value.length ? value : left.length === 0 ? null : left;
}
