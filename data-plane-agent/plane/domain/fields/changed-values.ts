import type { Issue } from '../../../base/issue.js';
import { MAX_VALUES_KB, type FieldValue } from '../../contract/records/fields.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { FieldRow } from '../../tables/fields.js';
import { appliesTo, editableBy, visibleTo, type RoleCode } from './definition.js';
import { checkedValue, isNothing, type ReadValue } from './values.js';

/** Custom values of a contract by field id. */
export type Values = ContractRow['dynamicFields'];

export interface ValueChange {
  /**
   * The values of a request: a given key replaces the value, an empty value (`null`, blank, an empty list) clears it,
   * and `null` instead of the whole object clears all values that the caller may write.
   */
  readonly given: Readonly<Record<string, unknown>> | null | undefined;
  readonly present: Values;
  /** All fields of the tenant. */
  readonly fields: readonly FieldRow[];
  readonly roleCode: RoleCode;
  readonly contract: { readonly type: string; readonly typeCode: string | null };
  /**
   * How a new contract is created; `undefined` for an existing one. An import may contain older contracts that lack
   * values required now, or have options removed since.
   */
  readonly entering?: 'request' | 'import';
}

export interface ChangedValues {
  readonly values: Values;
  readonly issues: readonly Issue[];
  /** Fields that the caller may see but not write, and sent with another value. */
  readonly notEditable: readonly string[];
  /** New ids of members and files that must be looked up. */
  readonly references: readonly { readonly path: string; readonly type: 'user' | 'file'; readonly id: string }[];
}

const bytesOf = (values: Values): number => Buffer.byteLength(JSON.stringify(values));
/**
 * Whether the values fit into one contract: the limit is that of one request, which repeated changes could otherwise
 * exceed.
 */
export const fits = (values: Values): boolean => bytesOf(values) <= MAX_VALUES_KB * 1024;

/** The custom values after a request. Fields that the caller cannot see count as unknown, and their values are kept. */
export function changedValues(change: ValueChange): ChangedValues {
  const { fields, roleCode, present, entering } = change;
  const seen = new Map(
    fields.filter((field) => !field.archived && visibleTo(field, roleCode)).map((field) => [field.id, field]),
  );
  const given =
    change.given === null && entering === undefined ? clearing(present, seen, roleCode) : (change.given ?? {});
  const outcome: Outcome = { values: { ...present }, issues: [], notEditable: [], references: [] };
  for (const [id, raw] of Object.entries(given)) {
    const field = seen.get(id);
    if (!field) outcome.issues.push({ path: `dynamicFields.${id}`.slice(0, 300), problem: 'is not a known field' });
    else changeOne(field, { raw, change, outcome });
  }
  if (entering !== undefined) fillIn(given, change, outcome);
  if (!fits(outcome.values) && bytesOf(outcome.values) > bytesOf(present))
    outcome.issues.push({ path: 'dynamicFields', problem: tooLarge(outcome.values, seen) });
  return outcome;
}

/** Values that the caller cannot see also take up space, so the message says how much is left. */
function tooLarge(values: Values, seen: ReadonlyMap<string, FieldRow>): string {
  const unseen = Object.fromEntries(Object.entries(values).filter(([id]) => !seen.has(id)));
  if (Object.keys(unseen).length === 0) return `must have at most ${MAX_VALUES_KB} KB`;
  const room = Math.max(0, Math.floor(MAX_VALUES_KB - bytesOf(unseen) / 1024));
  return `must have at most ${room} KB on this contract: values of fields that you cannot see take up the rest of the ${MAX_VALUES_KB} KB`;
}

interface Outcome {
  values: Values;
  readonly issues: Issue[];
  readonly notEditable: string[];
  readonly references: { readonly path: string; readonly type: 'user' | 'file'; readonly id: string }[];
}

const clearing = (present: Values, seen: ReadonlyMap<string, FieldRow>, roleCode: RoleCode): Record<string, null> =>
  Object.fromEntries(
    Object.keys(present).flatMap((id) => {
      const field = seen.get(id);
      return field && editableBy(field, roleCode) ? [[id, null]] : [];
    }),
  );

/**
 * Applies one sent value. A value sent back unchanged is accepted, even if the field, its options or its members have
 * changed since.
 */
function changeOne(
  field: FieldRow,
  {
    raw,
    change: { present, roleCode, contract, entering },
    outcome,
  }: { readonly raw: unknown; readonly change: ValueChange; readonly outcome: Outcome },
): void {
  const { id } = field;
  const path = `dynamicFields.${id}`;
  const applies = appliesTo(field, contract);
  // A new contract starts with the default value.
  const before = entering === undefined ? present[id] : applies ? field.defaultValue : null;
  const read: ReadValue = isSame(raw, before)
    ? { ok: true, value: raw as FieldValue }
    : checkedValue(field, raw, { removedOptions: entering === 'import', kept: before }); // equal to a stored value
  if (read.ok && isSame(read.value, before ?? null)) return;
  if (read.ok && read.value === null && entering !== undefined) return;
  if (!editableBy(field, roleCode)) outcome.notEditable.push(id);
  else if (!read.ok) outcome.issues.push({ path, problem: read.problem });
  else if (read.value === null && field.required && applies) outcome.issues.push({ path, problem: 'is required' });
  else if (read.value === null)
    outcome.values = Object.fromEntries(Object.entries(outcome.values).filter(([key]) => key !== id));
  else if (!applies) outcome.issues.push({ path, problem: 'does not apply to contracts of this type' });
  else {
    if (field.type === 'user' || field.type === 'file')
      outcome.references.push({ path, type: field.type, id: String(read.value as string) });
    keep(outcome, id, read.value);
  }
}

const keep = (outcome: Outcome, id: string, value: unknown): void => {
  outcome.values = { ...outcome.values, [id]: value };
};

/**
 * Sets the defaults of a new contract, including those of fields that the caller cannot see, and requires values for
 * the required fields that the caller may write.
 */
function fillIn(
  given: Readonly<Record<string, unknown>>,
  { fields, roleCode, contract, entering }: ValueChange,
  outcome: Outcome,
): void {
  for (const field of fields) {
    if (field.archived || outcome.values[field.id] !== undefined || !appliesTo(field, contract)) continue;
    const path = `dynamicFields.${field.id}`;
    if (outcome.issues.some((issue) => issue.path === path) || outcome.notEditable.includes(field.id)) continue;
    const isEmptyCell = entering === 'import' && Object.hasOwn(given, field.id) && isNothing(given[field.id]);
    if (field.defaultValue !== null && !isEmptyCell) keep(outcome, field.id, field.defaultValue);
    else if (field.required && entering === 'request' && editableBy(field, roleCode))
      outcome.issues.push({ path, problem: 'is required' });
  }
}

export const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (Array.isArray(a) && JSON.stringify(a) === JSON.stringify(b));
