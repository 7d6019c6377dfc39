import {
  MAX_MADE_OPTIONS,
  MAX_OPTIONS,
  type FieldOption,
  type FieldValue,
  type LossSample,
} from '../../contract/records/fields.js';
import type { FieldRow } from '../../tables/fields.js';
import { isChoice } from '../../domain/fields/definition.js';
import { LOST, labelsFor, type Conversion, type ConversionContext } from '../../domain/fields/convert.js';
import { convertedValue, type ConvertedValue } from '../../domain/fields/memory.js';
import { optionNamed } from '../../domain/fields/values.js';
import type { ContractValues } from '../../store/field-values.js';
import type { OperationContext } from '../operation-context.js';
import { notSeen } from './command.js';

const MAX_SAMPLES = 20;

export interface ValueConversion {
  readonly from: FieldRow;
  /** Its options are those given, before values add more. */
  readonly to: FieldRow;
  readonly context: Omit<ConversionContext, 'fileName'>;
  readonly seesValues: boolean;
}

export interface Survey {
  readonly total: number;
  readonly converted: number;
  readonly cleared: number;
  readonly unchanged: number;
  readonly samples: LossSample[];
  /** The new definition, including options added from values. */
  readonly to: FieldRow;
}

/**
 * Computes the conversion of all values without writing. Labels without an option become options, unless there are too
 * many.
 */
export async function survey(operationContext: OperationContext, conversion: ValueConversion): Promise<Survey> {
  const added =
    isChoice(conversion.to.type) && !isChoice(conversion.from.type)
      ? await newOptionLabels(operationContext, conversion)
      : [];
  // Options are visible to all who administer fields: values must not be disclosed there to callers who cannot see
  // them.
  if (added.length > 0 && conversion.from.type !== 'boolean' && !conversion.seesValues) throw notSeen(conversion.from);
  const to =
    added.length === 0
      ? conversion.to
      : { ...conversion.to, options: withAdded(conversion.to.options, added, operationContext.newId) };
  const counts = { total: 0, converted: 0, cleared: 0, unchanged: 0 };
  const samples: LossSample[] = [];
  for await (const step of convertedSteps(operationContext, { ...conversion, to })) {
    for (const { contract, after } of step) {
      if (after.outcome === 'none') continue;
      counts.total += 1;
      counts[after.outcome] += 1;
      if (after.outcome === 'cleared' && contract.isInScope && samples.length < MAX_SAMPLES)
        samples.push(sampleOf(contract, conversion.from));
    }
  }
  return { ...counts, samples, to };
}

/** Writes the conversion that the survey found. */
export async function convertValues(operationContext: OperationContext, conversion: ValueConversion): Promise<void> {
  const { store } = operationContext;
  for await (const step of convertedSteps(operationContext, conversion)) {
    await store.fieldValues.write(
      step
        .filter(({ contract, after }) => after.values !== contract.values)
        .map(({ contract, after }) => ({ contractId: contract.contractId, values: after.values })),
    );
    await store.fieldValues.remember(
      step.flatMap(({ contract, after }) =>
        after.remembered && after.remembered !== contract.remembered ? [after.remembered] : [],
      ),
    );
    await store.fieldValues.drop(
      conversion.from.id,
      step.flatMap(({ contract, after }) => (contract.remembered && !after.remembered ? [contract.contractId] : [])),
    );
  }
}

interface ConvertedContract {
  readonly contract: ContractValues;
  readonly after: ConvertedValue;
}

async function* convertedSteps(
  operationContext: OperationContext,
  { from, to, context }: ValueConversion,
): AsyncGenerator<ConvertedContract[]> {
  const now = operationContext.clock.now();
  for await (const step of operationContext.store.fieldValues.walk(from.id)) {
    const conversion = await conversionOf(operationContext, step, { from, to, context });
    yield step.map((contract) => ({
      contract,
      after: convertedValue({ ...conversion, ...contract, fieldId: from.id, now }),
    }));
  }
}

/**
 * Labels that values need as new options, both for a flag; none when there would be too many, and the values are lost.
 */
async function newOptionLabels(
  operationContext: OperationContext,
  { from, to, context }: ValueConversion,
): Promise<string[]> {
  const labels = new Map<string, string>();
  const add = (label: string) => {
    const key = label.toLowerCase();
    if (
      !optionNamed(
        to.options.filter(({ archived }) => !archived),
        label,
      ) &&
      !labels.has(key)
    )
      labels.set(key, label);
  };
  if (from.type === 'boolean') for (const label of ['true', 'false']) add(label);
  for await (const step of operationContext.store.fieldValues.walk(from.id)) {
    const conversion = await conversionOf(operationContext, step, { from, to, context });
    for (const { values } of step) {
      const value = values[from.id] as FieldValue | undefined; // values match the definition
      const found = value === undefined ? LOST : labelsFor(value, conversion);
      if (found !== LOST) for (const label of found) add(label);
    }
    if (labels.size > MAX_MADE_OPTIONS) return [];
  }
  return to.options.filter(({ archived }) => !archived).length + labels.size > MAX_OPTIONS ? [] : [...labels.values()];
}

/** Adds new options after the live ones. A label of an archived option restores that option. */
function withAdded(
  options: readonly FieldOption[],
  labels: readonly string[],
  newId: () => string,
): readonly FieldOption[] {
  const live = options.filter(({ archived }) => !archived);
  const added = labels.map((label): FieldOption => ({
    ...(optionNamed(options, label) ?? { id: newId(), label, color: null, order: 0 }),
    archived: false,
  }));
  const ids = new Set(added.map(({ id }) => id));
  return [...live, ...added, ...options.filter(({ id, archived }) => archived && !ids.has(id))].map((option, i) => ({
    ...option,
    order: i + 1,
  }));
}

/** The conversion, with file names looked up for the values of one step. */
async function conversionOf(
  { store }: OperationContext,
  step: readonly ContractValues[],
  { from, to, context }: Pick<ValueConversion, 'from' | 'to' | 'context'>,
): Promise<Conversion> {
  const ids =
    from.type === 'file'
      ? step.flatMap(({ values }) => (typeof values[from.id] === 'string' ? [String(values[from.id] as string)] : []))
      : [];
  const names = await store.fieldValues.fileNames(ids);
  return { from, to, context: { ...context, fileName: (id) => names.get(id) } };
}

const sampleOf = ({ contractId, contractNo, values }: ContractValues, from: FieldRow): LossSample => {
  const value = values[from.id] as FieldValue; // present: only a value can be lost
  return { contractId, contractNo, value: typeof value === 'object' ? [...value] : value };
};
