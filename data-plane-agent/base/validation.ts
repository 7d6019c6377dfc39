import { _, Ajv2020, str, type ErrorObject } from 'ajv/dist/2020.js';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Issue } from './issue.js';
import type { Static, TSchema } from 'typebox';
import { addressIn, isAddress } from './addresses.js';
import { isDay, isTimeZone, parseDay } from './day.js';
import { isCurrency } from './money.js';
import { isCalendar, isLanguageTag, isLocaleOrRegion, isName, isPlain } from './names.js';
import { onFirstUse } from './on-first-use.js';
import { hasLongRun, normal, TOO_MANY_MARKS } from './text.js';

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

/**
 * `ownProperties`: whether a property that an object inherits is none of its own, such as one that a request names
 * `constructor`. An answer has been made by a program, and its check is faster without it.
 */
function createAjv({ ownProperties }: { readonly ownProperties: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    allowUnionTypes: true,
    ownProperties,
    // What a schema defines is a function of its own: see `answerChecker`.
    inlineRefs: false,
  });
  ajv.addFormat('date', { type: 'string', validate: isDay });
  ajv.addFormat('currency', { type: 'string', validate: isCurrency });
  for (const [name, validate] of Object.entries({
    'time-zone': isTimeZone,
    'language-tag': isLanguageTag,
    'locale-or-region': isLocaleOrRegion,
    calendar: isCalendar,
  }))
    ajv.addFormat(name, { type: 'string', validate });
  ajv.addFormat('email', { type: 'string', validate: isAddress });
  ajv.addFormat('date-time', { type: 'string', validate: (text: string) => !Number.isNaN(Date.parse(text)) });
  // Ajv's own keywords count the characters of megabytes of text, although only texts close to the limit need counting.
  for (const keyword of ['minLength', 'maxLength'] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      errors: false,
      compile: (limit: number) => (text: string) => isWithin(text, keyword, limit),
      error: { message: '', params: ({ schemaCode }) => _`{ limit: ${schemaCode} }` },
    });
  }
  // Texts that are refused for their length are not scanned.
  ajv.addKeyword({
    keyword: 'x-text',
    type: 'string',
    errors: false,
    compile: (on: boolean, parent: Json) => (text: string) =>
      !on || text.length > longest(parent) || textProblem(text) === undefined,
    error: { message: ({ gen, data }) => _`${gen.scopeValue('func', { ref: textProblem })}(${data})` },
  });
  ajv.addKeyword({
    keyword: 'x-name',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || isName(text),
    error: {
      message: 'must be one line without control characters, bidirectional controls and invisible characters',
    },
  });
  ajv.addKeyword({
    keyword: 'x-plain',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || isPlain(text),
    error: { message: 'must not contain control characters and bidirectional controls' },
  });
  ajv.addKeyword({
    keyword: 'x-verbatim',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || text.isWellFormed(),
    error: { message: 'must not contain broken Unicode' },
  });
  ajv.addKeyword({
    keyword: 'x-document',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || !DOCUMENT_CONTROL.test(text),
    error: { message: 'must not contain control characters except tabs, line ends and form feeds' },
  });
  ajv.addKeyword({
    keyword: 'x-json',
    type: 'string',
    errors: false,
    compile: (on: boolean, parent: Json) => {
      const isValid = onFirstUse(() => knowing(ajv.compile(parent['contentSchema'] as TSchema)));
      return (text: string) => !on || isValid()(text);
    },
    error: { message: 'must be JSON text that matches its schema' },
  });
  ajv.addKeyword({
    keyword: 'x-characters',
    type: 'object',
    schemaType: 'number',
    errors: false,
    compile: (most: number) => (value: object) => unitsIn(value, most) <= most,
    error: { message: ({ schemaCode }) => str`must have at most ${schemaCode} characters in its lists` },
  });
  // Not validated here: the operation does, with an error that names the fields.
  ajv.addVocabulary(['x-one-of', 'x-some-of']);
  ajv.addKeyword({
    keyword: 'x-free',
    type: 'object',
    schemaType: 'number',
    errors: false,
    compile: (kilobytes: number) => (value: object) => isFreeObject(value, kilobytes * 1024),
    error: { message: ({ schemaCode }) => str`must be plain JSON of at most ${schemaCode} KB and eight levels` },
  });

  // Says what to do instead, before the plain message of `exclusiveMinimum`.
  ajv.addKeyword({
    keyword: 'x-above-zero',
    type: 'number',
    schemaType: 'string',
    before: 'exclusiveMinimum',
    errors: false,
    validate: (_instead: string, amount: number) => amount > 0,
    error: { message: ({ schema }) => `must be > 0; ${String(schema)}` },
  });
  return ajv;
}

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

const textProblem = (text: string): string | undefined =>
  !isCleanText(text)
    ? 'must not contain control characters or broken Unicode'
    : hasLongRun(text)
      ? TOO_MANY_MARKS
      : undefined;

/**
 * Remembers the digests of texts that were valid, and no text: a list has mostly contracts that have not changed since
 * it was read last, and parsing and validating one again takes five times as long as its digest.
 */
function knowing(isValid: (value: unknown) => boolean): (text: string) => boolean {
  const known = new LRUCache<string, true>({ max: KNOWN_TEXTS });
  return (text) => {
    const digest = hash('sha256', text, 'base64url');
    if (known.get(digest)) return true;
    const isJson = isJsonOf(text, isValid);
    if (isJson) known.set(digest, true);
    return isJson;
  };
}

/** Of one schema; they take about 4 MB. */
const KNOWN_TEXTS = 20_000;

function isJsonOf(text: string, isValid: (value: unknown) => boolean): boolean {
  try {
    return isValid(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function isWithin(text: string, bound: 'minLength' | 'maxLength', limit: number): boolean {
  const { length } = text;
  if (bound === 'maxLength') return length <= limit || (length <= 2 * limit && charactersIn(text) <= limit);
  return length >= 2 * limit || (length >= limit && charactersIn(text) >= limit);
}

/** A lone surrogate counts as one character, as in JSON Schema. */
function charactersIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (!isSecondHalf(text, i)) count++;
  return count;
}

const isSecondHalf = (text: string, i: number): boolean =>
  (text.charCodeAt(i) & 0xfc00) === 0xdc00 && i > 0 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800;

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
 * In UTF-16 units: decomposed, a character has up to four code points of up to two units each; blanks around the text
 * are trimmed.
 */
const longest = ({ maxLength }: Json): number =>
  8 * (typeof maxLength === 'number' ? maxLength : LONGEST_WORD) + BLANKS;
/** For texts without a maximum length, because their values are enumerated. */
const LONGEST_WORD = 500;
const BLANKS = 1_000;

// oxlint-disable-next-line no-control-regex -- the characters to refuse: C0 controls except tab and newline, and DEL
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

// oxlint-disable-next-line no-control-regex -- as above; a document may also have carriage returns and form feeds
const DOCUMENT_CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/** No control characters except tab and newline, and no lone surrogates (PostgreSQL refuses both). */
export const isCleanText = (text: string): boolean => !CONTROL.test(text) && text.isWellFormed();

/**
 * Only white space and zero-width characters such as U+200B, U+2060 or U+FEFF. Among other characters these are
 * allowed: they join emoji and control scripts.
 */
export const isBlankText = (text: string): boolean => /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(text);

/** Counts the UTF-16 units of the texts in an object's lists of objects; stops beyond `most`. */
function unitsIn(value: object, most: number): number {
  let units = 0;
  for (const list of Object.values(value) as readonly unknown[]) {
    for (const item of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      if (typeof item !== 'object' || item === null) continue;
      for (const text of Object.values(item) as readonly unknown[]) if (typeof text === 'string') units += text.length;
      if (units > most) return units;
    }
  }
  return units;
}

const FREE_DEPTH = 8;

function isFreeObject(root: object, bytes: number): boolean {
  const open: [unknown, number][] = [[root, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === 'string' && !isCleanText(value)) return false;
    // `1e400` is parsed as Infinity, which would be stored as null.
    if (typeof value === 'number' && !Number.isFinite(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > FREE_DEPTH) return false;
    for (const [key, child] of Object.entries(value)) {
      if (key === '__proto__' || !isCleanText(key)) return false;
      open.push([child, depth + 1]);
    }
  }
  return Buffer.byteLength(JSON.stringify(root)) <= bytes;
}

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
