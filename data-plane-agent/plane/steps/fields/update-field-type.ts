import { fail, invalid } from '../../../base/failures.js';
import type { FieldValue, PayloadOf } from '../../contract/records/fields.js';
import { convert, LOST } from '../../domain/fields/convert.js';
import type { FieldRow } from '../../tables/fields.js';
import { isChoice, visibleTo } from '../../domain/fields/definition.js';
import { nextSettings } from '../../domain/fields/new-field.js';
import { nextOptions } from '../../domain/fields/options.js';
import { convertValues, survey, type Survey, type ValueConversion } from './convert-values.js';
import { fieldNamed, notSeen, type CommandOutcome, type FieldCommandContext } from './command.js';

/**
 * Changes the type or settings of a field and converts the values of all contracts: all or none. When the type is
 * changed back within thirty days, values that were not edited since are restored.
 */
export async function updateFieldType({
  context: operationContext,
  call,
  payload,
  known,
  fields,
}: FieldCommandContext<'UpdateFieldType'>): Promise<CommandOutcome> {
  const { store, clock, newId } = operationContext;
  const field = fieldNamed(fields, 'payload.fieldId', payload.fieldId);
  const asked = retyped(field, payload, { currencyCode: call.currencyCode, newId });
  const context = { timeZone: call.timeZone, dateFormat: known.dateFormat, members: known.members ?? [] };
  const seesValues = visibleTo(field, call.actor.roleCode);
  // Counts disclose values, and a series of them each single value.
  if (payload.dryRun && !seesValues) throw notSeen(field);
  const conversion: ValueConversion = { from: field, to: asked, context, seesValues };
  const found = await survey(operationContext, conversion);
  const result = {
    dryRun: payload.dryRun ?? false,
    total: found.total,
    converted: found.converted,
    cleared: found.cleared,
    unchanged: found.unchanged,
    samples: found.samples,
  };
  if (payload.dryRun) return { field, result };
  if (found.cleared > 0 && !seesValues) throw notSeen(field);
  if (found.cleared > 0 && payload.onInvalid !== 'clear') throw lossy(found);

  const to: FieldRow = { ...found.to, defaultValue: defaultIn(field, found.to, conversion), updatedAt: clock.now() };
  const visibleResult = seesValues ? { result } : {};
  if (isSameDefinition(field, to)) return { field, ...visibleResult };
  await convertValues(operationContext, { ...conversion, to });
  await store.fieldValues.forget(clock.now());
  const updated = await store.fields.update(field, to, {
    values: { converted: result.converted, cleared: result.cleared, unchanged: result.unchanged },
  });
  return { field: updated, ...visibleResult };
}

function retyped(
  field: FieldRow,
  { type, options, settings }: PayloadOf<'UpdateFieldType'>,
  { currencyCode, newId }: { readonly currencyCode: string; readonly newId: () => string },
): FieldRow {
  const next = nextSettings(field.settings, settings, { type, currencyCode });
  const issues = [
    ...next.issues,
    ...(options && options.length > 0 && !isChoice(type)
      ? [{ path: 'payload.options', problem: `must be left out for a field of the type ${type}` }]
      : []),
  ];
  if (issues.length > 0) throw invalid(...issues);
  return {
    ...field,
    type,
    settings: next.settings,
    options: options && isChoice(type) ? nextOptions(field.options, { given: options, newId }).options : field.options,
  };
}

const lossy = ({ total, converted, unchanged, cleared, samples }: Survey) =>
  fail('FIELD_CONVERSION_LOSSY', { total, convertible: converted + unchanged, lossy: cleared, samples });

function defaultIn(field: FieldRow, to: FieldRow, { context }: ValueConversion): FieldValue | null {
  if (field.defaultValue === null) return null;
  const converted = convert(field.defaultValue, {
    from: field,
    to,
    context: { ...context, fileName: () => undefined },
  });
  return converted === LOST ? null : converted;
}

const KEPT: readonly (keyof FieldRow)[] = ['type', 'options', 'settings', 'defaultValue'];
const isSameDefinition = (a: FieldRow, b: FieldRow): boolean =>
  KEPT.every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
