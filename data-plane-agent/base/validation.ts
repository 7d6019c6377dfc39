import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Issue } from './issue.js';
import type { Static, TSchema } from 'typebox';
import { addressIn } from './addresses.js';
import { parseDay } from './day.js';
import { onFirstUse } from './on-first-use.js';
import { normal } from './text.js';
import { createAjv, longest } from './validation-keywords.js';

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly issues: readonly Issue[];
      /** The invalid value, normalised as far as possible. */ readonly refused?: unknown;
    };
/** Normalises a value (in place) and validates it. `at` is the path of the value within the request. */
export type Check<T> = (value: unknown, at?: readonly (string | number)[]) => Checked<T>;

/** The maximum number of invalid fields to collect for one body. */
export const MAX_ISSUES = 1_000;

const compiler = {
  request: onFirstUse(() => createAjv({ ownProperties: true })),
  answer: onFirstUse(() => createAjv({ ownProperties: false })),
};

const compiled = { request: new WeakMap<TSchema, Check<unknown>>(), answer: new WeakMap<TSchema, Check<unknown>>() };

/**
 * Later calls with the same schema object return the same check. The schema is compiled when the check is first used:
 * compiling those of all endpoints would take most of a program's start.
 */
export const checker = <T extends TSchema>(schema: T): Check<Static<T>> => checkOf(schema, 'request');

/** As `checker`, for what was normalised when it was received: the value is left as it is. */
export const unchangedChecker = <T extends TSchema>(schema: T): Check<Static<T>> => checkOf(schema, 'answer');

function checkOf<T extends TSchema>(schema: T, kind: keyof typeof compiled): Check<Static<T>> {
  const known = compiled[kind].get(schema);
  if (known) return known as Check<Static<T>>;
  const parts = onFirstUse(() => ({
    validate: compiler[kind]().compile(schema),
    normalise: (kind === 'request' && normaliser(schema)) || ((value: unknown) => value),
  }));
  const check: Check<Static<T>> = (input, at = []) => {
    const { validate, normalise } = parts();
    const value = normalise(input);
    if (validate(value)) return { ok: true, value: value as Static<T> };
    return { ok: false, issues: issuesOf(validate.errors ?? [], at) };
  };
  compiled[kind].set(schema, check);
  return check;
}

type Json = Record<string, unknown>;
type Normalise = (value: unknown) => unknown;

/** Compiles the normalisation of a schema's values; `undefined` if there is nothing to do. */
function normaliser(schema: TSchema | Json): Normalise | undefined {
  const json = schema as Json;
  const types = [json['type']].flat();
  // JSON text is checked as it is, of any length.
  if (json['x-json'] === true) return undefined;
  if (types.includes('string')) return stringNormaliser(json, types.includes('null'));
  if (types.includes('array') && json['items']) {
    const item = normaliser(json['items'] as Json);
    return item && ((value) => (Array.isArray(value) ? value.map(item) : value));
  }
  if (types.includes('object')) return objectNormaliser(json);
  return undefined;
}

function objectNormaliser(json: Json): Normalise | undefined {
  const steps = Object.entries((json['properties'] ?? {}) as Record<string, Json>)
    .map(([key, child]) => [key, normaliser(child)] as const)
    .filter((step): step is readonly [string, Normalise] => step[1] !== undefined);
  const rest =
    typeof json['additionalProperties'] === 'object' ? normaliser(json['additionalProperties'] as Json) : undefined;
  if (steps.length === 0 && !rest) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const record = value as Json;
    for (const [key, step] of steps) if (Object.hasOwn(record, key)) record[key] = step(record[key]);
    if (rest) for (const key of Object.keys(record)) if (key !== '__proto__') record[key] = rest(record[key]);
    return record;
  };
}

function stringNormaliser(json: Json, nullable: boolean): Normalise | undefined {
  const verbatim = json['x-verbatim'] === true;
  const format = json['format'];
  const max = longest(json);
  const isSettled = !['date', 'currency', 'email'].includes(String(format));
  return (value) => {
    if (typeof value !== 'string') return value;
    // A text that is too long is refused anyway; cutting it just above the limit saves the other rules work.
    if (value.length > max) return value.slice(0, max + 1);
    if (isSettled && SETTLED.test(value)) return value;
    const trimmed = verbatim ? value : value.replaceAll('\r\n', '\n').trim();
    const text = !verbatim && isBlankText(trimmed) ? '' : trimmed;
    if (text === '' && nullable) return null;
    if (verbatim || !text.isWellFormed()) return text;
    if (format === 'date') return parseDay(text) ?? text;
    if (format === 'currency') return text.toUpperCase();
    // An invalid address is left as it is, and then refused by its format.
    if (format === 'email') return addressIn(text) ?? text;
    const plain = normal(text, { max });
    return plain.ok ? plain.text : text;
  };
}

/** Nothing of it is normalised, unless by a format: printable ASCII without blanks around it. Most texts are that. */
const SETTLED = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * Only white space and zero-width characters such as U+200B, U+2060 or U+FEFF. Among other characters these are
 * allowed: they join emoji and control scripts.
 */
export const isBlankText = (text: string): boolean => /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(text);

/** One issue per field, in the order in which they were found. */
function issuesOf(errors: readonly ErrorObject[], at: readonly (string | number)[]): Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of errors) {
    const path = pathOf(error, at);
    if (!issues.has(path)) issues.set(path, { path, problem: problemOf(error) });
    if (issues.size >= MAX_ISSUES) break;
  }
  return [...issues.values()];
}

function pathOf(error: ErrorObject, at: readonly (string | number)[]): string {
  const within = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const params = error.params as { missingProperty?: string; additionalProperty?: string; propertyName?: string };
  const own = params.missingProperty ?? params.additionalProperty ?? params.propertyName;
  return fieldPath([...at, ...within, ...(own === undefined ? [] : [own])]);
}

/** `['payments', '2', 'amount']` as `payments[2].amount`. */
export const fieldPath = (parts: readonly (string | number)[]): string =>
  parts
    .reduce<string>(
      (path, part) =>
        /^\d+$/.test(String(part)) && path !== '' ? `${path}[${part}]` : path === '' ? String(part) : `${path}.${part}`,
      '',
    )
    .slice(0, 300);

function problemOf(error: ErrorObject): string {
  const params = error.params as Json;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type':
      return `must be ${article(params['type'])}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as (string | null)[]).filter((value) => value !== null).join(', ')}`;
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${String(params['limit'])} characters`;
    case 'maxLength':
      return `must have at most ${String(params['limit'])} characters`;
    case 'minItems':
      return `must have at least ${String(params['limit'])} items`;
    case 'maxItems':
      return `must have at most ${String(params['limit'])} items`;
    case 'format':
      return FORMAT_PROBLEMS[String(params['format'])] ?? `must be a valid ${String(params['format'])}`;
    case 'pattern':
      return `must match ${String(params['pattern'])}`;
    default:
      return error.message ?? 'is not valid';
  }
}

const FORMAT_PROBLEMS: Readonly<Record<string, string>> = {
  date: 'must be a calendar date like 2026-03-31',
  currency: 'must be an ISO 4217 currency code like EUR',
  email: 'must be an email address',
  'time-zone': 'must be an IANA time zone like Europe/Berlin',
  'language-tag': 'must be the BCP 47 tag of a known language, like zh-CN',
  'locale-or-region': 'must be a BCP 47 locale or a region like CN',
  calendar: 'must be a calendar like gregory',
};

function article(type: unknown): string {
  const names = [type]
    .flat()
    .filter((name) => name !== 'null')
    .map(String);
  const named: Readonly<Record<string, string>> = {
    integer: 'a whole number',
    array: 'a list',
    object: 'an object',
    boolean: 'true or false',
    null: 'null',
  };
  return names.map((name) => named[name] ?? `a ${name}`).join(' or ');
}
