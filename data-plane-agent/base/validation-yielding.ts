import type { Static, TSchema } from 'typebox';
import { inOrder, yielding, type YieldIfDue } from './yielding.js';
import { checker, MAX_ISSUES, type Check, type Checked } from './validation.js';
import type { Issue } from './issue.js';

/**
 * As `Check`, for values of megabytes: yields to the event loop. Returns a normalised copy and does not change the
 * input.
 */
export type YieldingCheck<T> = (value: unknown) => Promise<Checked<T>>;

const compiled = new WeakMap<TSchema, YieldingCheck<unknown>>();

/**
 * As `checker`, but validates piece by piece: an object without its lists and nested objects, then those, and each
 * element of a list. The elements of a list that is too long are not checked. At most `MAX_ISSUES` are collected.
 */
export function yieldingChecker<T extends TSchema>(schema: T): YieldingCheck<Static<T>> {
  const known = compiled.get(schema);
  if (known) return known as YieldingCheck<Static<T>>;
  const validate = validatorOf(schema as Json);
  const check: YieldingCheck<Static<T>> = async (value) => {
    const found: Found = { issues: [], yieldIfDue: yielding() };
    await found.yieldIfDue(); // parsing the value may have used the time slice
    const validated = validate(value, [], found);
    const checked = validated instanceof Promise ? ((await validated) as unknown) : validated;
    return found.issues.length === 0
      ? { ok: true, value: checked as Static<T> }
      : { ok: false, issues: found.issues.slice(0, MAX_ISSUES), refused: checked };
  };
  compiled.set(schema, check);
  return check;
}

type Json = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

interface Found {
  readonly issues: Issue[];
  readonly yieldIfDue: YieldIfDue;
}

/**
 * Returns the normalised value and adds its issues to `found`. Returns a promise of the value only if the time slice
 * ends meanwhile: a promise for each line of a contract takes longer than validating it.
 */
type Validator = (value: unknown, at: Path, found: Found) => unknown;

function validatorOf(schema: Json): Validator {
  if (isList(schema)) return listValidator(schema);
  return isRecord(schema) ? objectValidator(schema) : plainValidator(schema);
}

function plainValidator(schema: Json): Validator {
  const check: Check<unknown> = checker(schema as TSchema);
  return (value, at, { issues }) => {
    const checked = check(value, at);
    if (checked.ok) return checked.value;
    issues.push(...checked.issues);
    return value;
  };
}

function objectValidator(schema: Json): Validator {
  const properties = Object.entries(schema['properties'] as Readonly<Record<string, Json>>);
  const parts = properties
    .filter(([, child]) => isList(child) || isRecord(child))
    .map(([key, child]) => [key, validatorOf(child)] as const);
  const { 'x-characters': characters, ...fields } = schema;
  const shell = plainValidator({
    ...fields,
    properties: Object.fromEntries(
      properties.map(([key, child]) => [key, isList(child) || isRecord(child) ? {} : child]),
    ),
  });
  const sum = characters === undefined ? undefined : plainValidator({ type: 'object', 'x-characters': characters });
  const known = new Set(properties.map(([key]) => key));
  return (value, at, found) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return shell(value, at, found);
    const keys = Object.keys(value);
    // With more unknown fields than can be reported, only they are reported.
    if (keys.length > known.size + MAX_ISSUES)
      return shell(only(value, keys.filter((key) => !known.has(key)).slice(0, MAX_ISSUES)), at, found);
    const copy = shell({ ...value }, at, found) as Record<string, unknown>;
    const finished = (): unknown => {
      // If an element is already too long, the total adds no information.
      if (found.issues.length === 0) sum?.(copy, at, found);
      return copy;
    };
    const waiting = inOrder(parts, ([key, validate]) =>
      Object.hasOwn(copy, key)
        ? taken(validate(copy[key], [...at, key], found), (part) => (copy[key] = part))
        : undefined,
    );
    return waiting ? waiting.then(finished) : finished();
  };
}

function listValidator(schema: Json): Validator {
  const shell = plainValidator(Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'items')));
  const items = schema['items'] as Json;
  // A list of plain values is validated at once, unless it may be very long.
  if (!isList(items) && !isRecord(items) && Number(schema['maxItems'] ?? Infinity) <= AT_ONCE) {
    const whole = plainValidator(schema);
    return (value, at, found) => {
      if (!Array.isArray(value)) return shell(value, at, found);
      return hasNoIssues(shell, { value, at, found }) ? whole(value, at, found) : value;
    };
  }
  const validate = validatorOf(items);
  return (value, at, found) => {
    if (!Array.isArray(value)) return shell(value, at, found);
    if (!hasNoIssues(shell, { value, at, found })) return value;
    const list: unknown[] = [];
    const waiting = inOrder(value as unknown[], (item, i) => {
      if (found.issues.length >= MAX_ISSUES) return undefined;
      const validated = () => taken(validate(item, [...at, i], found), (checked) => list.push(checked));
      return found.yieldIfDue()?.then(validated) ?? validated();
    });
    return waiting ? waiting.then(() => list) : list;
  };
}

/** Passes on a validated value, as soon as it is there. */
function taken(validated: unknown, take: (value: unknown) => void): Promise<void> | undefined {
  if (validated instanceof Promise) return validated.then(take);
  take(validated);
  return undefined;
}

/** The maximum number of plain values validated at once. */
const AT_ONCE = 10_000;

/** Adds the issues of the list itself. Returns whether there are none. */
function hasNoIssues(
  shell: Validator,
  { value, at, found }: { readonly value: unknown; readonly at: Path; readonly found: Found },
): boolean {
  const before = found.issues.length;
  shell(value, at, found);
  return found.issues.length === before;
}

/** fromEntries makes each field an own property, even `__proto__`. */
const only = (value: object, keys: readonly string[]): object =>
  Object.fromEntries(keys.map((key) => [key, (value as Readonly<Record<string, unknown>>)[key]]));

const isList = (schema: Json): boolean => isOf(schema, 'array') && typeof schema['items'] === 'object';
const isRecord = (schema: Json): boolean => isOf(schema, 'object') && typeof schema['properties'] === 'object';

/** Whether the schema has only this type, or none. */
const isOf = ({ type }: Json, name: string): boolean =>
  type === undefined || [type].flat().every((one) => one === name || one === 'null');
