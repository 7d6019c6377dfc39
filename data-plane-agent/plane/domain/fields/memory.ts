import type { FieldValue } from '../../contract/records/fields.js';
import type { Forms, FormsRow } from '../../tables/fields.js';
import { fits, isSame, type Values } from './changed-values.js';
import { convert, LOST, type Conversion } from './convert.js';
import { checkedValue } from './values.js';

/** How long a value's former forms are kept. */
export const KEPT_MS = 30 * 86_400_000;

export interface Turn extends Conversion {
  readonly fieldId: string;
  readonly contractId: string;
  /** All custom values of the contract. */
  readonly values: Values;
  readonly remembered: FormsRow | undefined;
  readonly now: number;
}

export interface Turned {
  readonly outcome: 'none' | 'unchanged' | 'converted' | 'cleared';
  readonly values: Values;
  /** `null` where nothing is remembered, or no longer. */
  readonly remembered: FormsRow | null;
}

/** A contract's value under its field's new type: an untouched one gets the form back that it had under that type. */
export function turned(turn: Turn): Turned {
  const { fieldId, values, to, remembered } = turn;
  const present = (values[fieldId] as FieldValue | undefined) ?? null; // definitions decide what is kept
  const untouched = remembered !== undefined && isSame(remembered.became, present);
  const former = untouched ? livingForms(remembered.forms, turn.now)[to.type]?.value : undefined;
  const restored = former !== undefined && isFit(former, turn) ? former : undefined;
  if (present === null && restored === undefined)
    return { outcome: 'none', values, remembered: untouched ? remembered : null };
  const next = restored ?? (present === null ? null : convertedOrNull(present, turn));
  const nextValues = withValue(values, fieldId, next);
  const outcome = isSame(next, present) ? 'unchanged' : next === null ? 'cleared' : 'converted';
  return {
    outcome,
    values: outcome === 'unchanged' ? values : nextValues,
    remembered: memoryAfter(turn, { present, next, untouched }),
  };
}

function convertedOrNull(present: FieldValue, turn: Turn): FieldValue | null {
  const next = convert(present, turn);
  return next !== LOST && fits(withValue(turn.values, turn.fieldId, next)) ? next : null;
}

/** What the type has no place for any more cannot come back: an option that is gone, a number out of bounds. */
function isFit(former: FieldValue | null, { to, values, fieldId }: Turn): boolean {
  if (former === null) return false;
  const read = checkedValue(to, former, { removedOptions: true });
  return read.ok && isSame(read.value, former) && fits(withValue(values, fieldId, former));
}

function memoryAfter(
  { from, to, fieldId, contractId, remembered, now }: Turn,
  {
    present,
    next,
    untouched,
  }: { readonly present: FieldValue | null; readonly next: FieldValue | null; readonly untouched: boolean },
): FormsRow | null {
  const known = untouched && remembered ? livingForms(remembered.forms, now) : {};
  if (from.type === to.type && isSame(next, present) && !untouched) return null;
  const until = now + KEPT_MS;
  // What an untouched value was under this type before says more than what is left of it.
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
