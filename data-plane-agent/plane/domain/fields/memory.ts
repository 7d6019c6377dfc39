import type { FieldValue } from '../../contract/records/fields.js';
import type { Forms, FormsRow } from '../../tables/fields.js';
import { fits, isSame, type Values } from './changed-values.js';
import { convert, LOST, type Conversion } from './convert.js';
import { checkedValue } from './values.js';

/** How long former values are kept after a type change, in milliseconds. */
export const KEPT_MS = 30 * 86_400_000;

export interface ValueConversion extends Conversion {
  readonly fieldId: string;
  readonly contractId: string;
  /** All custom values of the contract. */
  readonly values: Values;
  readonly remembered: FormsRow | undefined;
  readonly now: number;
}

export interface ConvertedValue {
  readonly outcome: 'none' | 'unchanged' | 'converted' | 'cleared';
  readonly values: Values;
  /** `null` when no former value is kept, or none any more. */
  readonly remembered: FormsRow | null;
}

/**
 * Converts a contract's value to its field's new type. A value not edited since an earlier type change is restored to
 * what it was under that type.
 */
export function convertedValue(conversion: ValueConversion): ConvertedValue {
  const { fieldId, values, to, remembered } = conversion;
  const present = (values[fieldId] as FieldValue | undefined) ?? null; // values were checked against their definition when written
  const untouched = remembered !== undefined && isSame(remembered.became, present);
  const former = untouched ? livingForms(remembered.forms, conversion.now)[to.type]?.value : undefined;
  const restored = former !== undefined && isFit(former, conversion) ? former : undefined;
  if (present === null && restored === undefined)
    return { outcome: 'none', values, remembered: untouched ? remembered : null };
  const next = restored ?? (present === null ? null : convertedOrNull(present, conversion));
  const nextValues = withValue(values, fieldId, next);
  const outcome = isSame(next, present) ? 'unchanged' : next === null ? 'cleared' : 'converted';
  return {
    outcome,
    values: outcome === 'unchanged' ? values : nextValues,
    remembered: memoryAfter(conversion, { present, next, untouched }),
  };
}

function convertedOrNull(present: FieldValue, conversion: ValueConversion): FieldValue | null {
  const next = convert(present, conversion);
  return next !== LOST && fits(withValue(conversion.values, conversion.fieldId, next)) ? next : null;
}

/** Whether a former value is still valid: an option may have been deleted, or a bound changed. */
function isFit(former: FieldValue | null, { to, values, fieldId }: ValueConversion): boolean {
  if (former === null) return false;
  const read = checkedValue(to, former, { removedOptions: true });
  return read.ok && isSame(read.value, former) && fits(withValue(values, fieldId, former));
}

function memoryAfter(
  { from, to, fieldId, contractId, remembered, now }: ValueConversion,
  {
    present,
    next,
    untouched,
  }: { readonly present: FieldValue | null; readonly next: FieldValue | null; readonly untouched: boolean },
): FormsRow | null {
  const known = untouched && remembered ? livingForms(remembered.forms, now) : {};
  if (from.type === to.type && isSame(next, present) && !untouched) return null;
  const until = now + KEPT_MS;
  // The former value of an unedited field is more complete than what its conversion left.
  const forms: Forms = { ...known, [from.type]: { value: known[from.type]?.value ?? present, until } };
  return {
    fieldId,
    contractId,
    forms,
    became: next,
    expiresAt: Math.max(...Object.values(forms).map((form) => form.until)),
  };
}

const livingForms = (forms: Forms, now: number): Forms =>
  Object.fromEntries(Object.entries(forms).filter(([, form]) => form.until > now));

export function withValue(values: Values, fieldId: string, value: FieldValue | null): Values {
  if (value !== null) return { ...values, [fieldId]: value };
  return Object.fromEntries(Object.entries(values).filter(([id]) => id !== fieldId));
}
